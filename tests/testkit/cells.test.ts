import { expect, test } from 'vitest';
import { cellsAmiss, namesOf } from './cells.ts';

test('names are all combinations, in the order of the lists', () => {
  expect(namesOf(['a', 'b'], ['memory', 'fleet'])).toEqual([
    'a · memory',
    'a · fleet',
    'b · memory',
    'b · fleet',
  ]);
});

test('a complete table has nothing amiss, in any order', () => {
  expect(cellsAmiss(['a', 'b'], ['b', 'a'])).toEqual([]);
});

test('missing, repeated and unexpected cells are reported by name', () => {
  expect(cellsAmiss(['a', 'b', 'c'], ['b', 'b', 'c', 'd'])).toEqual([
    'missing: a',
    'more than once: b',
    'not expected: d',
  ]);
});
