import { defineOption, IN_STATE } from '@mrtr/options-contract';
import { COMPARES_SCHEMA } from '@mrtr/options-contract/deploys';
import { byEra } from '@mrtr/shapes/by-era';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';
import { write } from './write.ts';

export const option = defineOption({
  handlers: ({ world }) => ({
    getWeather: byEra(getWeather(world)),
    resolveWorkItem: byEra(resolveWorkItem(world)),
    write,
  }),
  claims: {
    modern: {
      ...IN_STATE,
      entries: 'every-round',
      audit: 'after-answer',
      stateBytes: { get_weather: [137], resolve_work_item: [143, 175] },
      unaskable: 'error',
    },
    legacy: {
      entries: 'once',
      audit: 'after-answer',
      asked: 'always',
      stateless: 'error',
    },
    deploys: COMPARES_SCHEMA,
    conformance: 'it is E to a client that the suite is',
  },
});
