/** One instance of a deployment, as a process that can be killed. */

import type { Fetch } from '@mrtr/harness/internal';
import { RunningProcess } from '@mrtr/harness/process';
import type { Database } from './database.ts';
import { holdParts } from './hold-parts.ts';
import type { InstanceAddress, Opening } from './messages.ts';
import { instanceProgram } from './program.ts';

/** Many instances may start at once on a busy machine. */
const PATIENCE_MS = 120_000;

export type InstanceProcess = Awaited<ReturnType<typeof startInstance>>;

/** @throws Error with the process's output, if it ends or does not connect in time. */
export async function startInstance(database: Database) {
  const running = new RunningProcess(instanceProgram, { ipc: true, patienceMs: PATIENCE_MS });
  const { remote, closed, ended, close } = await running
    .whileAlive(database.connect(running.child))
    .catch(async (error: unknown) => {
      await running.kill();
      throw error;
    });
  /** Resolves with undefined if the process ends before it answers. */
  const unlessGone = <T>(answer: Promise<T>) =>
    answer.catch((error: unknown) => {
      if (!ended()) throw error;
      return undefined;
    });
  /** The frames that it holds for `scope`. Resolves after all its earlier reports have arrived. */
  const framesHeld = async (scope: string) => (await unlessGone(remote.framesHeld(scope))) ?? 0;
  const onKill = new Set<() => void>();
  return {
    onKill,

    get alive() {
      return running.alive;
    },

    /** Serves a conversation. Returns the function that sends it a request. */
    async open(place: InstanceAddress, opening: Opening): Promise<Fetch> {
      const url = new URL(await remote.open(place, opening));
      return async (_address, init) => {
        // On a busy machine, a kept connection is closed by its server while the next request is on its way.
        const headers = new Headers(init?.headers);
        headers.set('connection', 'close');
        const response = await fetch(url, { ...init, headers });
        // It reports on another channel what it did before it sent a part.
        return holdParts(response, () => framesHeld(place.scope));
      };
    },

    close: (scope: string) => unlessGone(remote.close(scope)),

    framesHeld,

    /** Sends SIGKILL. Resolves when it has ended and all its reports have arrived. */
    async kill() {
      for (const listener of onKill) listener();
      await Promise.all([running.kill(), closed]);
    },

    /** Disconnects its database, which ends it. */
    stop: () => running.stop(close),
  };
}
