import { defineOption, IN_STATE } from '@mrtr/options-contract';
import { COMPARES_WORDS } from '@mrtr/options-contract/deploys';
import { once } from '@mrtr/shapes/once';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';
import { write } from './write.ts';

export const option = defineOption({
  handlers: ({ world }) => ({
    getWeather: once(getWeather(world)),
    resolveWorkItem: once(resolveWorkItem(world)),
    write,
  }),
  claims: {
    modern: {
      ...IN_STATE,
      entries: 'every-round',
      audit: 'before-asking',
      stateBytes: { get_weather: [178], resolve_work_item: [162, 297] },
      unaskable: 'default',
    },
    legacy: {
      entries: 'every-round',
      audit: 'before-asking',
      asked: 'by-policy',
      stateless: 'default',
    },
    deploys: { ...COMPARES_WORDS, 'step-renamed': 'rejects', 'step-value': 'rejects' },
    conformance: true,
  },
});
