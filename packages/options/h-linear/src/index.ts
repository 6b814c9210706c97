import { defineOption } from '@mrtr/options-contract';
import { REFUSES_ALL } from '@mrtr/options-contract/deploys';
import { ContinuationStore, linear } from '@mrtr/shapes/linear';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';
import { writeOn } from './write.ts';

export const option = defineOption({
  handlers({ world, instance }) {
    // One store per instance, not per server: calls outlive the request that began them.
    const store = new ContinuationStore({ locate: () => instance });
    return {
      getWeather: linear(getWeather(world), { store }),
      resolveWorkItem: linear(resolveWorkItem(world), { store }),
      write: writeOn(store),
      framesHeld: () => store.parked,
      close: () => store.close(),
    };
  },
  claims: {
    modern: {
      entries: 'once',
      audit: 'before-asking',
      stateBytes: { get_weather: [206], resolve_work_item: [213, 210] },
      framesHeld: 1,
      otherInstance: 'refused',
      restart: 'refused',
      afterKill: 'refused',
      unaskable: 'default',
      forgeries: 'refused',
    },
    legacy: {
      entries: 'once',
      audit: 'before-asking',
      asked: 'by-policy',
      stateless: 'default',
    },
    deploys: REFUSES_ALL,
    conformance: true,
  },
});
