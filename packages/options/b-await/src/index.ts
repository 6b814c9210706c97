import { defineOption, IN_STATE } from '@mrtr/options-contract';
import { COMPARES_WORDS } from '@mrtr/options-contract/deploys';
import { awaitShim } from '@mrtr/shapes/await-shim';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';
import { write } from './write.ts';

export const option = defineOption({
  handlers: ({ world }) => ({
    getWeather: awaitShim(getWeather(world)),
    resolveWorkItem: awaitShim(resolveWorkItem(world)),
    write,
  }),
  claims: {
    modern: {
      ...IN_STATE,
      entries: 'every-round',
      audit: 'every-entry',
      stateBytes: { get_weather: [163], resolve_work_item: [170, 305] },
      unaskable: 'default',
    },
    legacy: {
      entries: 'once',
      audit: 'every-entry',
      asked: 'always',
      stateless: 'default',
    },
    deploys: { ...COMPARES_WORDS, renamed: 'finishes' },
    conformance: 'it asks with forms only, one by one',
  },
});
