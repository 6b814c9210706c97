import { expect, test } from 'vitest';
import { ownEntry } from './answer-reads.ts';

test('only an own entry counts, because a client chooses the keys', () => {
  const record = JSON.parse('{"own":1,"__proto__":{"inherited":2}}');
  expect(ownEntry(record, 'own')).toBe(1);
  expect(ownEntry(record, '__proto__')).toEqual({ inherited: 2 });
  expect(ownEntry(Object.create({ inherited: 2 }), 'inherited')).toBeUndefined();
  for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    expect(ownEntry({}, key), key).toBeUndefined();
  }
  expect(ownEntry(undefined, 'any')).toBeUndefined();
});
