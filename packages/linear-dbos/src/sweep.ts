/** Deletes abandoned calls on its own timer: a few at a time, and on one instance at a time. */
import type { Runtime } from './runtime.ts';

const AT_ONCE = 500;
const AGAIN_SOON_MS = 100;

/**
 * Sweeps for one store. It never keeps the process alive.
 *
 * @returns a function that stops it, after the current deletion has ended.
 */
export function sweepEvery(
  seconds: number,
  runtime: Runtime,
  report: (error: Error) => void,
): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;
  const schedule = (ms: number) => {
    if (isStopped) return;
    timer = setTimeout(() => {
      const swept = sweep(runtime).catch((error: Error) => report(error));
      running = swept.then((isFull) => schedule(isFull ? AGAIN_SOON_MS : seconds * 1000));
    }, ms);
    timer.unref();
  };
  schedule(seconds * 1000);
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await running;
  };
}

/** Returns whether there may be more to delete. */
async function sweep(runtime: Runtime): Promise<boolean> {
  const ids = await runtime.calls.findExpired(AT_ONCE);
  if (ids.length > 0) await runtime.remove(ids);
  if (ids.length < AT_ONCE) await runtime.removeQueues();
  return ids.length === AT_ONCE;
}
