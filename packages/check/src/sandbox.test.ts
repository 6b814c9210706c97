/** Calls of the worker, and their limits. */
import { expect, test } from 'vitest';
import { inWorker, Unreadable, unlessUnreadable } from './sandbox.ts';

const form = (field: object, more: object = {}) => ({ type: 'object', properties: { field }, ...more });
const both = (at: number) => ({ anyOf: [{ $ref: `#/$defs/${at}` }, { $ref: `#/$defs/${at}` }] });
const ways = Array.from({ length: 40 }, (_, at) => [at, at === 39 ? { type: 'number' } : both(at + 1)]);
const leaves = Array.from({ length: 30_000 }, (_, at) => ({ at }));

/** A busy machine may need both waits in full: for the start of the worker, and for its answer. */
const HELD_MS = 120_000;

test.each<readonly [string, () => Promise<unknown>]>([
  ['2^40 ways', () => inWorker('fits', form(both(0), { $defs: Object.fromEntries(ways) }), { field: 'x' })],
  ['a state of many leaves', () => inWorker('forgeries', JSON.stringify(leaves), [])],
])(
  '%s is given up, and the next call is answered',
  async (_, call) => {
    await expect(call()).rejects.toThrow(Unreadable);
    expect(await unlessUnreadable(call())).toBeUndefined();
    expect(await inWorker('validContent', form({ type: 'boolean' }), 1)).toEqual({ field: true });
  },
  HELD_MS,
);

test('a schema that would answer with a promise answers at once', async () => {
  expect(await inWorker('fits', { $async: true, ...form({ type: 'number' }) }, { field: 'x' })).toBe(false);
});
