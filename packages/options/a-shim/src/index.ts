import { protectedServer } from '@mrtr/core';
import { defineOption, IN_STATE, SERVER_INFO, writeGuardFirst } from '@mrtr/options-contract';
import { COMPARES_SCHEMA } from '@mrtr/options-contract/deploys';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';

export const option = defineOption({
  handlers: ({ world }) => ({
    getWeather: getWeather(world),
    resolveWorkItem: resolveWorkItem(world),
    write: writeGuardFirst,
  }),
  // This is the whole shape: the SDK's own shim plays the rounds over an old client's stream.
  server: ({ state }) => protectedServer(SERVER_INFO, state.with({ legacy: 'shim' })),
  claims: {
    modern: {
      ...IN_STATE,
      entries: 'every-round',
      audit: 'after-answer',
      stateBytes: { get_weather: [137], resolve_work_item: [143, 175] },
      unaskable: 'error',
    },
    legacy: {
      entries: 'every-round',
      audit: 'after-answer',
      asked: 'always',
      stateless: 'error',
    },
    deploys: COMPARES_SCHEMA,
    conformance: 'it is E to a client that the suite is',
  },
});
