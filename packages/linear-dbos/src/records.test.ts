import { ProtocolError } from '@modelcontextprotocol/server';
import { CannotAsk, ContinuationLost, ElicitationDeclined, keyRing } from '@mrtr/core';
import { expect, test } from 'vitest';
import { errorRecord, type Head, revivedError, unread, unreadAnswers, Vault } from './records.ts';

const KEY = 'k'.repeat(32);
const revived = (thrown: unknown) => revivedError(JSON.parse(JSON.stringify(errorRecord(thrown))));
const head = { salt: 'salt' } as Head;

test.each([
  ['a declined question', new ElicitationDeclined('cancel')],
  ['a lost continuation', new ContinuationLost('It is gone.')],
  ['a client that cannot be asked', new CannotAsk('Nobody is there.')],
  ['an error of the protocol', new ProtocolError(-32002, 'Not there', { uri: 'a:b' })],
])('%s is what it was, and keeps its stack', (_what, error) => {
  const again = revived(error);
  expect(again).toEqual(error);
  expect([again.constructor, again.stack]).toEqual([error.constructor, error.stack]);
});

test('any other error keeps its name, its message and what of its properties is JSON', () => {
  class OutOfStock extends Error {
    override readonly name = 'OutOfStock';
    readonly shelf = { item: 'tea' };
    readonly reorder = () => {};
    readonly self = this;
  }
  const again = revived(new OutOfStock('No tea left.'));
  expect(again).not.toBeInstanceOf(OutOfStock);
  expect({ name: again.name, message: again.message, shelf: (again as OutOfStock).shelf }).toEqual({
    name: 'OutOfStock',
    message: 'No tea left.',
    shelf: { item: 'tea' },
  });
  expect(Object.keys(again)).not.toContain('self');
});

test.each([['a text'], [undefined], [null], [42]])(
  '%s that was thrown is an error that says it',
  (thrown) => {
    expect(revived(thrown).message).toBe(String(thrown));
  },
);

test('a record opens as what it was sealed as, for its call, with a key of the policy', () => {
  const vault = new Vault(keyRing([KEY]));
  const sealed = vault.seal({ a: 1 }, 'call', 'head');
  expect(vault.open(sealed, 'call', 'head')).toEqual({ a: 1 });
  const complaint =
    /does not open: it was changed, or sealed with a key that is not among the policy’s `keys`/;
  expect(() => vault.open(sealed, 'other', 'head')).toThrow(complaint);
  expect(() => vault.open(sealed, 'call', 'turn 1')).toThrow(complaint);
  expect(() => new Vault(keyRing(['o'.repeat(32)])).open(sealed, 'call', 'head')).toThrow(complaint);
});

test('answers that say the same in another order are the same, and no name tells what it names', () => {
  expect(unreadAnswers({ a: 1, b: 2 }, head)).toBe(unreadAnswers({ b: 2, a: 1 }, head));
  expect(unreadAnswers(undefined, head)).toBe(unreadAnswers({}, head));
  expect(unreadAnswers({ a: 1 }, head)).not.toBe(unreadAnswers({ a: 2 }, head));
  expect(unread('charge', head)).not.toBe(unread('charge', { ...head, salt: 'pepper' }));
});
