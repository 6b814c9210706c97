/**
 * Whether code runs inside of an effect, which takes no steps of its own call: they would wait for a round that waits
 * for the effect.
 *
 * On Node 20 an `AsyncLocalStorage` that is in use has each promise of the process pay for it, 5 to 8 %. So it is in use
 * only while an effect runs.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const scope = new AsyncLocalStorage<object>();
let running = 0;

/** Runs an effect of `call`, which is whatever stands for one. */
export async function insideEffect<T>(call: object, effect: () => T | Promise<T>): Promise<T> {
  running++;
  try {
    return await scope.run(call, effect);
  } finally {
    running--;
    if (running === 0) scope.disable();
  }
}

/** Whether the caller is inside of an effect of `call` that is running. */
export const isInsideEffect = (call: object): boolean => running > 0 && scope.getStore() === call;
