import { defineOption } from '@mrtr/option';
import { journal } from '@mrtr/shapes/journal';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';

export const option = defineOption({
  handlers: ({ world }) => ({
    getWeather: journal(getWeather(world)),
    resolveWorkItem: journal(resolveWorkItem(world)),
  }),
  claims: {
    modern: {
      entries: 'every-round',
      audit: 'before-asking',
      stateBytes: { get_weather: [194], resolve_work_item: [166, 309] },
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
  },
});
