import { defineOption, IN_STATE } from '@mrtr/options-contract';
import { COMPARES_WORDS } from '@mrtr/options-contract/deploys';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';
import { write } from './write.ts';

export const option = defineOption({
  handlers: ({ world }) => ({
    getWeather: getWeather(world),
    resolveWorkItem: resolveWorkItem(world),
    write,
  }),
  claims: {
    modern: {
      ...IN_STATE,
      entries: 'once',
      audit: 'after-answer',
      stateBytes: { get_weather: [166], resolve_work_item: [173, 307] },
      unaskable: 'default',
    },
    legacy: {
      entries: 'once',
      audit: 'after-answer',
      asked: 'by-policy',
      stateless: 'default',
    },
    deploys: {
      ...COMPARES_WORDS,
      'step-renamed': 'rejects',
      'step-removed': 'rejects',
      'step-value': 'rejects',
    },
    conformance: true,
  },
});
