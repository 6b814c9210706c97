import { defineOption } from '@mrtr/option';
import { COMPARES_WORDS } from '@mrtr/option/deploys';
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
      entries: 'once',
      audit: 'after-answer',
      stateBytes: { get_weather: [166], resolve_work_item: [173, 307] },
      framesHeld: 0,
      otherInstance: 'finishes',
      restart: 'finishes',
      afterKill: 'finishes',
      unaskable: 'default',
      forgeries: 'refused',
    },
    legacy: {
      entries: 'once',
      audit: 'after-answer',
      asked: 'by-policy',
      stateless: 'default',
      afterKill: 'lost',
    },
    deploys: {
      ...COMPARES_WORDS,
      'step-renamed': 'refuses',
      'step-removed': 'refuses',
      'step-value': 'refuses',
    },
    conformance: true,
  },
});
