/**
 * Knows whether code runs inside an effect. An effect must not take steps of its own call: they would wait for the
 * round, which waits for the effect.
 *
 * On Node 20 an `AsyncLocalStorage` in use slows each promise of the process by 5 to 8 %. So it is in use only while an
 * effect runs.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { processWide } from '@mrtr/core/internal';

interface Effect {
  readonly call: object;
  over: boolean;
}

const effects = processWide('effects.1', () => ({ scope: new AsyncLocalStorage<Effect>(), running: 0 }));

/** Runs an effect of `call`. Any object may stand for a call. */
export async function insideEffect<T>(call: object, effect: () => T | Promise<T>): Promise<T> {
  const inside: Effect = { call, over: false };
  effects.running++;
  try {
    return await effects.scope.run(inside, effect);
  } finally {
    inside.over = true;
    effects.running--;
    if (effects.running === 0) disable();
  }
}

function disable() {
  try {
    effects.scope.disable();
  } catch {
    // Cloudflare Workers have the method, and it throws.
  }
}

/** Whether the caller is inside a running effect of `call`. */
export function isInsideEffect(call: object) {
  if (effects.running === 0) return false;
  const inside = effects.scope.getStore();
  // Code that an effect left running still carries the scope, so check that the effect has not ended.
  return inside?.call === call && !inside.over;
}
