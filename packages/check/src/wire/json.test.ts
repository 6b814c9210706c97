import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonical, duplicateKeys, isTooMuch, parse } from './json.ts';

test('finds a duplicate key in an object, with its path', () => {
  expect(duplicateKeys('{"a":1,"a":2}')).toEqual(['a']);
  expect(duplicateKeys('{"a":{"b":{"c":{},"c":{}}}}')).toEqual(['a.b.c']);
  expect(duplicateKeys('[{"a":[{"b":1,"b":2}]}]')).toEqual(['[].a.[].b']);
});

test('reads escapes: two spellings of one key are one key', () => {
  expect(duplicateKeys('{"a":1,"\\u0061":2}')).toEqual(['a']);
  expect(duplicateKeys('{"{,\\"":1,"b":"{\\"b\\":1,\\"b\\":2}"}')).toEqual([]);
});

test('finds no duplicate key in the output of JSON.stringify', () => {
  fc.assert(fc.property(fc.json(), (text) => duplicateKeys(JSON.stringify(JSON.parse(text))).length === 0));
});

test('equal values read equal, whatever the order of their keys', () => {
  expect(canonical({ b: [1, { d: 1, c: 2 }], a: null })).toBe(canonical({ a: null, b: [1, { c: 2, d: 1 }] }));
});

test.each([
  ['nested a hundred thousand times', '['.repeat(100_000) + ']'.repeat(100_000)],
  ['of half a million members', `[${'{},'.repeat(500_000)}1]`],
])('reads no JSON %s, which would overflow or outlast the checker', (_what, text) => {
  expect([parse(text), isTooMuch(text)]).toEqual([undefined, true]);
});
