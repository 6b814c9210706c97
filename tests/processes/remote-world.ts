/** The world as another process sees it: the database is elsewhere, and every write waits until it is there. */
import { fixedWeather, type World } from '@mrtr/tools';
import type { DatabaseMethods } from './messages.ts';
import type { Peer } from './peer.ts';

/**
 * The world of `scope`. A write resolves when the database has acknowledged it, so nothing that a handler has
 * seen done is lost when its process is killed.
 */
export function remoteWorld(database: Peer<DatabaseMethods>, scope: string): World {
  return {
    weather: fixedWeather,
    audit: {
      record: (entry) => database.call('record', { scope, entry }),
      get entries(): readonly string[] {
        throw elsewhere();
      },
    },
    items: {
      find: (id) => database.call('find', { scope, id }),
      setState: (id, state) => database.call('setState', { scope, id, state }),
      resolve: (id, resolution, original) =>
        database.call('resolve', { scope, id, resolution, ...(original !== undefined && { original }) }),
      get writes(): readonly never[] {
        throw elsewhere();
      },
    },
  };
}

const elsewhere = () =>
  new Error('What was written is known where the database is: in the observing process.');
