/** The world for another process. Every write waits for the database in the measuring process. */

import { fixedWeather, type World } from '@mrtr/comparison';
import type { DatabaseMethods, InstanceAddress } from './messages.ts';
import type { Rpc } from './rpc.ts';

/**
 * The world at `place`. A write resolves when the database has acknowledged it, so killing the process loses no write that
 * the handler has awaited.
 */
export function remoteWorld({ remote }: Rpc<DatabaseMethods>, place: InstanceAddress): World {
  return {
    weather: fixedWeather,
    audit: {
      record: (entry) => remote.record(place, entry),
      get entries(): readonly string[] {
        throw elsewhere();
      },
    },
    items: {
      find: (id) => remote.find(place, id),
      setState: (id, state) => remote.setState(place, id, state),
      // JSON has no undefined.
      resolve: (id, resolution, original) =>
        remote.resolve(place, id, resolution, ...(original === undefined ? [] : [original])),
      get writes(): readonly never[] {
        throw elsewhere();
      },
    },
  };
}

const elsewhere = () => new Error('Only the measuring process knows what was written.');
