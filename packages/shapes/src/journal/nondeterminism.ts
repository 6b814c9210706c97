/**
 * Strict mode: finds the clocks and dice that a handler looks at behind its journal's back.
 *
 * `Date.now`, `Math.random` and `crypto.randomUUID` are replaced, once and for the process, the first time that a
 * strict handler is made. Outside of strict handlers, and inside of `run`, the replacements do nothing but call on.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { InvalidDefinition } from '@mrtr/core';

/** The real ones, whatever strict mode has replaced. */
export const originals = {
  now: Date.now.bind(Date),
  random: Math.random.bind(Math),
  uuid: crypto.randomUUID.bind(crypto),
} as const;

const forbidden = new AsyncLocalStorage<boolean>();
let watching = false;

/** Runs a strict handler: what it calls unwrapped is an error, with the place of the call. */
export const insideStrictHandler = <T>(handler: () => T): T => forbidden.run(true, handler);

/** Runs what is not the handler's own code (what it wrapped; an observer), where everything is allowed. */
export const outsideHandler = <T>(fn: () => T): T => (watching ? forbidden.run(false, fn) : fn());

/** Starts watching. Later calls do nothing. */
export function watchNondeterminism(): void {
  if (watching) return;
  watching = true;
  Date.now = watched(Date.now, 'Date.now()', 'ctx.now()');
  Math.random = watched(Math.random, 'Math.random()', 'ctx.random()');
  globalThis.crypto.randomUUID = watched(
    globalThis.crypto.randomUUID.bind(globalThis.crypto),
    'crypto.randomUUID()',
    'ctx.uuid()',
  );
  crypto.randomUUID = watched(crypto.randomUUID, 'crypto.randomUUID()', 'ctx.uuid()');
  syncBuiltinESMExports();
}

function watched<A extends unknown[], R>(
  original: (...args: A) => R,
  called: string,
  instead: string,
): (...args: A) => R {
  const replacement = (...args: A): R => {
    if (!forbidden.getStore()) return original(...args);
    const place: { stack?: string } = {};
    Error.captureStackTrace(place, replacement);
    const at = place.stack?.split('\n')[1]?.trim() ?? 'at an unknown place';
    throw new InvalidDefinition(
      `${called} ${at}: its value differs in each round of the call. Use ${instead}, or wrap it in ctx.run.`,
    );
  };
  return replacement;
}
