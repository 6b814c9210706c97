import { awaitShim } from '@mrtr/shapes/await-shim';
import { defineOption } from '@mrtr/tools';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';

export const option = defineOption({
  handlers: ({ world }) => ({
    getWeather: awaitShim(getWeather(world)),
    resolveWorkItem: awaitShim(resolveWorkItem(world)),
  }),
  claims: {
    modern: {
      entries: 'every-round',
      audit: 'every-entry',
      stateBytes: { get_weather: [162], resolve_work_item: [169, 303] },
      framesHeld: 0,
      otherInstance: 'finishes',
      restart: 'finishes',
      afterKill: 'finishes',
      unaskable: 'default',
      forgeries: 'refused',
    },
    legacy: {
      entries: 'once',
      audit: 'every-entry',
      asked: 'always',
      stateless: 'default',
      afterKill: 'lost',
    },
  },
});
