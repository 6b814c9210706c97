/** Deletes expired calls on a timer, a few hundred at a time. */
import type { Runtime } from './runtime.ts';

const AT_ONCE = 500;
const AGAIN_SOON_MS = 100;

/**
 * Sweeps for one store. Does not keep the process alive.
 *
 * @returns a function that stops the timer, and resolves when the current deletion has ended.
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

/** Returns true if more may be left. */
async function sweep(runtime: Runtime): Promise<boolean> {
  const ids = await runtime.calls.findExpired(AT_ONCE);
  if (ids.length > 0) await runtime.remove(ids);
  if (ids.length < AT_ONCE) await runtime.removeQueues();
  return ids.length === AT_ONCE;
}
