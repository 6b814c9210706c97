import { defineOption, IN_STATE } from '@mrtr/options-contract';
import { COMPARES_WORDS } from '@mrtr/options-contract/deploys';
import { journal } from '@mrtr/shapes/journal';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';
import { write } from './write.ts';

export const option = defineOption({
  handlers: ({ world }) => ({
    getWeather: journal(getWeather(world)),
    resolveWorkItem: journal(resolveWorkItem(world)),
    write,
  }),
  claims: {
    modern: {
      ...IN_STATE,
      entries: 'every-round',
      audit: 'before-asking',
      stateBytes: { get_weather: [194], resolve_work_item: [166, 309] },
      unaskable: 'default',
    },
    legacy: {
      entries: 'every-round',
      audit: 'before-asking',
      asked: 'by-policy',
      stateless: 'default',
    },
    deploys: {
      ...COMPARES_WORDS,
      reworded: ['asks again', 'rejects'],
      renamed: ['asks again', 'rejects'],
      moved: ['asks again', 'rejects'],
      removed: ['finishes', 'rejects'],
      'added-before': ['asks again', 'rejects'],
      narrowed: ['asks again', 'rejects'],
      widened: ['asks again', 'rejects'],
      'step-renamed': 'rejects',
      'step-moved': ['rejects', 'finishes'],
      'step-removed': 'rejects',
      'step-added': ['finishes', 'rejects'],
      'step-value': 'rejects',
    },
    conformance: true,
  },
});
