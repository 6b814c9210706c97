/** Deletes expired calls on a timer, a few hundred at a time. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Settings } from './options.ts';
import type { Runtime } from './runtime.ts';

const AT_ONCE = 500;

/**
 * Starts to sweep for one store. Does not keep the process alive.
 *
 * @returns a function that stops it, and resolves when the current deletion has ended.
 */
export function startSweep({ sweepSeconds, onerror }: Settings, runtime: Runtime): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  async function sweep() {
    for (;;) {
      await delay(sweepSeconds * 1000, undefined, { signal, ref: false });
      await deleteExpired(runtime, signal).catch(onerror);
    }
  }
  const swept = sweep().catch(() => {}); // It ends when it is stopped.
  return async () => {
    stopping.abort();
    await swept;
  };
}

async function deleteExpired(runtime: Runtime, signal: AbortSignal) {
  let ids: string[];
  do {
    ids = await runtime.calls.findExpired(AT_ONCE);
    if (ids.length > 0) await runtime.remove(ids);
  } while (ids.length === AT_ONCE && !signal.aborted);
  await runtime.removeQueues();
}
