import { defineOption } from '@mrtr/option';
import { COMPARES_WORDS } from '@mrtr/option/deploys';
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
      entries: 'every-round',
      audit: 'before-asking',
      stateBytes: { get_weather: [178], resolve_work_item: [162, 297] },
      framesHeld: 0,
      otherInstance: 'finishes',
      restart: 'finishes',
      afterKill: 'finishes',
      unaskable: 'default',
      forgeries: 'refused',
    },
    legacy: {
      entries: 'every-round',
      audit: 'before-asking',
      asked: 'by-policy',
      stateless: 'default',
      afterKill: 'lost',
    },
    deploys: { ...COMPARES_WORDS, 'step-renamed': 'refuses', 'step-value': 'refuses' },
    conformance: true,
  },
});
