import { defineOption } from '@mrtr/options-contract';
import { REFUSES_ALL } from '@mrtr/options-contract/deploys';
import { linear } from '@mrtr/shapes/linear';
import { opening } from './opening.ts';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';
import { writeOn } from './write.ts';

export { keptOpen } from './opening.ts';

export const option = defineOption({
  handlers(deps) {
    const store = opening(deps);
    return {
      getWeather: linear(getWeather(deps.world), { store }),
      resolveWorkItem: linear(resolveWorkItem(deps.world), { store }),
      write: writeOn(store),
      framesHeld: () => store.parked,
      close: () => store.close(),
    };
  },
  claims: {
    modern: {
      entries: 'once',
      audit: 'before-asking',
      stateBytes: { get_weather: [209], resolve_work_item: [215, 213] },
      framesHeld: 1,
      otherInstance: 'finishes',
      restart: 'finishes',
      afterKill: 'finishes',
      unaskable: 'default',
      forgeries: 'refused',
    },
    legacy: {
      entries: 'once',
      audit: 'before-asking',
      asked: 'by-policy',
      stateless: 'default',
    },
    deploys: { ...REFUSES_ALL, nothing: 'finishes', 'added-after': 'finishes' },
    conformance: 'it is H with another store',
  },
});
