import { ProtocolError } from '@modelcontextprotocol/server';
import { CannotAsk, ElicitationDeclined } from '@mrtr/core';
import { keyRing } from '@mrtr/core/seal';
import { ContinuationLost } from '@mrtr/shapes/linear';
import { expect, test } from 'vitest';
import {
  type CallHeader,
  callKeyOf,
  errorRecord,
  hashAnswers,
  openCallKey,
  revivedError,
  saltedHash,
} from './records.ts';

const KEY = 'k'.repeat(32);
const revive = (thrown: unknown) => revivedError(JSON.parse(JSON.stringify(errorRecord(thrown))));
const head = { salt: 'salt' } as CallHeader;

test.each([
  ['a declined question', new ElicitationDeclined('cancelled')],
  ['a lost continuation', new ContinuationLost('It is gone.')],
  ['a client that cannot be asked', new CannotAsk('Nobody is there.')],
  ['an error of the protocol', new ProtocolError(-32002, 'Not there', { uri: 'a:b' })],
])('%s is revived as the same class, with its stack', (_what, error) => {
  const again = revive(error);
  expect(again).toEqual(error);
  expect([again.constructor, again.stack]).toEqual([error.constructor, error.stack]);
});

test('any other error keeps its name, its message and its JSON properties', () => {
  class OutOfStock extends Error {
    override readonly name = 'OutOfStock';
    readonly shelf = { item: 'tea' };
    readonly reorder = () => {};
    readonly self = this;
  }
  const again = revive(new OutOfStock('No tea left.'));
  expect(again).not.toBeInstanceOf(OutOfStock);
  expect({ name: again.name, message: again.message, shelf: (again as OutOfStock).shelf }).toEqual({
    name: 'OutOfStock',
    message: 'No tea left.',
    shelf: { item: 'tea' },
  });
  expect(Object.keys(again)).not.toContain('self');
});

test.each([['a text'], [undefined], [null], [42]])(
  '%s that was thrown becomes an error with it as the message',
  (thrown) => {
    expect(revive(thrown).message).toBe(String(thrown));
  },
);

test.each([
  [
    'whose property cannot be read',
    Object.defineProperty(new Error('m'), 'secret', { enumerable: true, get: fail }),
  ],
  ['whose message cannot be read', Object.defineProperty(new Error('m'), 'message', { get: fail })],
  ['whose message is not text', Object.defineProperty(new Error('m'), 'message', { value: 10n })],
  ['that has no text', Object.create(null)],
  ['whose prototype cannot be read', new Proxy({}, { getPrototypeOf: fail })],
])('a thrown value %s becomes an error without details', (_what, thrown) => {
  const again = revive(thrown);
  expect(again).toBeInstanceOf(Error);
  expect(JSON.stringify([again.message, again.stack, again])).not.toContain('SECRET');
});

function fail(): never {
  throw new Error('SECRET');
}

test('an error that only has the name of an error class of ours is not revived as one', () => {
  const error = Object.assign(new Error('The other end says so.'), { name: 'ElicitationDeclined' });
  const again = revive(error);
  expect(again).not.toBeInstanceOf(ElicitationDeclined);
  expect([again.name, again.message]).toEqual([error.name, error.message]);
});

test('a record opens as what it was sealed as, for its call, with a key of the policy', () => {
  const ring = keyRing([KEY]);
  const callKey = callKeyOf('call');
  const sealed = callKey.seal({ a: 1 }, 'head');
  expect(openCallKey('call', callKey.sealKey(ring), ring).open(sealed, 'head')).toEqual({ a: 1 });
  const complaint =
    /does not open: it was changed, or sealed with a key that is not among the policy’s `keys`/;
  expect(() => callKey.open(sealed, 'turn 1')).toThrow(complaint);
  expect(() => callKeyOf('call').open(sealed, 'head')).toThrow(complaint);
  expect(() => openCallKey('other', callKey.sealKey(ring), ring)).toThrow(complaint);
  expect(() => openCallKey('call', callKey.sealKey(ring), keyRing(['o'.repeat(32)]))).toThrow(complaint);
});

test('the digest of answers ignores their order, and the digest of a step depends on the call’s salt', () => {
  expect(hashAnswers({ a: 1, b: 2 }, head)).toBe(hashAnswers({ b: 2, a: 1 }, head));
  expect(hashAnswers(undefined, head)).toBe(hashAnswers({}, head));
  expect(hashAnswers({ a: 1 }, head)).not.toBe(hashAnswers({ a: 2 }, head));
  expect(saltedHash('charge', head)).not.toBe(saltedHash('charge', { ...head, salt: 'pepper' }));
});
