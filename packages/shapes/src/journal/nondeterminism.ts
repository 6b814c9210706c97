/**
 * Strict mode: finds times and random values that a handler uses without its journal.
 *
 * Replaces `Date.now`, `Math.random` and `crypto.randomUUID` while a strict handler runs, and restores them after the
 * last one. Outside strict handlers, and inside `once`, the replacements only call the originals.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { InvalidDefinition } from '@mrtr/core';
import { processWide } from '@mrtr/core/internal';

/** The original functions, also while strict mode replaces them. */
export const originals = processWide('originals.1', () => ({
  now: Date.now.bind(Date),
  random: Math.random.bind(Math),
  uuid: crypto.randomUUID.bind(crypto),
}));

// Process-wide, because the functions are: with two copies of this module, one would restore the other's replacements.
const strict = processWide('strict-mode.1', () => ({
  forbidden: new AsyncLocalStorage<boolean>(),
  watchers: 0,
  restore: () => {},
}));
const { forbidden } = strict;

/** Runs a strict handler. An unwrapped call of one of the three functions throws an error that names its place. */
export const insideStrictHandler = <T>(handler: () => T): T => forbidden.run(true, handler);

/** Runs a wrapped effect or an observer, which may call the three functions. */
export const outsideHandler = <T>(fn: () => T): T => (strict.watchers > 0 ? forbidden.run(false, fn) : fn());

/** Watches while `entry` runs. Restores the functions when the last strict entry has ended. */
export async function watchNondeterminism<T>(entry: () => Promise<T>): Promise<T> {
  if (strict.watchers++ === 0) strict.restore = patch();
  try {
    return await entry();
  } finally {
    if (--strict.watchers === 0) strict.restore();
  }
}

/** Replaces the three functions; the returned function undoes it. */
function patch() {
  const web = globalThis.crypto;
  const before = { now: Date.now, random: Math.random, web: web.randomUUID, node: crypto.randomUUID };
  Date.now = watchFunction(before.now, 'Date.now()', 'ctx.now()');
  Math.random = watchFunction(before.random, 'Math.random()', 'ctx.random()');
  web.randomUUID = watchFunction(before.web.bind(web), 'crypto.randomUUID()', 'ctx.uuid()');
  crypto.randomUUID = watchFunction(before.node, 'crypto.randomUUID()', 'ctx.uuid()');
  syncBuiltinESMExports();
  return () => {
    Date.now = before.now;
    Math.random = before.random;
    Reflect.deleteProperty(web, 'randomUUID');
    crypto.randomUUID = before.node;
    syncBuiltinESMExports();
  };
}

function watchFunction<A extends unknown[], R>(original: (...args: A) => R, called: string, instead: string) {
  const replacement = (...args: A) => {
    if (!forbidden.getStore()) return original(...args);
    const place: { stack?: string } = {};
    Error.captureStackTrace(place, replacement);
    const at = place.stack?.split('\n')[1]?.trim() ?? 'at an unknown place';
    throw new InvalidDefinition(
      `${called} ${at}: its value differs in each round of the call. Use ${instead}, or wrap it in ctx.once.`,
    );
  };
  return replacement;
}
