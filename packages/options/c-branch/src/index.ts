import { defineOption } from '@mrtr/option';
import { COMPARES_SCHEMA } from '@mrtr/option/deploys';
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
      entries: 'every-round',
      audit: 'after-answer',
      stateBytes: { get_weather: [137], resolve_work_item: [143, 175] },
      framesHeld: 0,
      otherInstance: 'finishes',
      restart: 'finishes',
      afterKill: 'finishes',
      unaskable: 'error',
      forgeries: 'refused',
    },
    legacy: {
      entries: 'once',
      audit: 'after-answer',
      asked: 'always',
      stateless: 'error',
      afterKill: 'lost',
    },
    deploys: COMPARES_SCHEMA,
    conformance: 'it is E to a client that the suite is',
  },
});
