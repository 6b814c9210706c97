/** A world that keeps nothing, so that it does not grow during a measurement. */
import { fixedWeather, type WorkItem, type World } from '@mrtr/example-tools';

/** Like `createWorld`, without a memory. */
export const forgetfulWorld = (): World => ({
  weather: fixedWeather,
  audit: { entries: [], record: async () => {} },
  items: {
    writes: [],
    find: async (id): Promise<WorkItem> => ({ id, state: 'Active' }),
    setState: async (id, state) => ({ id, state }),
    resolve: async (id, resolution, original) =>
      resolution === 'Duplicate'
        ? { id, state: 'Resolved', resolution, original: original ?? 0 }
        : { id, state: 'Resolved', resolution },
  },
});
