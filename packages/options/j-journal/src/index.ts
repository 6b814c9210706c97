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
      reworded: ['asks again', 'refuses'],
      renamed: ['asks again', 'refuses'],
      moved: ['asks again', 'refuses'],
      removed: ['finishes', 'refuses'],
      'added-before': ['asks again', 'refuses'],
      narrowed: ['asks again', 'refuses'],
      widened: ['asks again', 'refuses'],
      'step-renamed': 'refuses',
      'step-moved': ['refuses', 'finishes'],
      'step-removed': 'refuses',
      'step-added': ['finishes', 'refuses'],
      'step-value': 'refuses',
    },
    conformance: true,
  },
});
