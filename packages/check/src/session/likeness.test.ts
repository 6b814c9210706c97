import { expect, test } from 'vitest';
import { Likeness } from './likeness.ts';

const likenessOf = (...texts: readonly string[]): Likeness => {
  const likeness = new Likeness();
  for (const text of texts) likeness.add(text);
  return likeness;
};

test('an outcome is like one that it equals, and unlike one with another word', () => {
  const likeness = likenessOf('Sent 5 to bob');
  expect(likeness.like('Sent 5 to bob')).toBe(true);
  expect(likeness.like('Sent 6 to bob')).toBe(false);
});

test('only the parts that honest outcomes share count', () => {
  const likeness = likenessOf('Transfer 17: 5 to bob', 'Transfer 18: 5 to bob');
  expect(likeness.like('Transfer 99: 5 to bob')).toBe(true);
  expect(likeness.like('Transfer 99: 6 to bob')).toBe(false);
});

test('times, UUIDs and long hex never count', () => {
  const likeness = likenessOf('at 2026-11-22T08:00:00Z, 0f8fad5b-d9cb-469f-a165-70867728950e');
  expect(likeness.like('at 2026-11-22T09:30:00.123Z, 7c9e6679-7425-40de-944b-e07fc1f90ae7')).toBe(true);
});

test('if honest outcomes have nothing in common, likeness is undefined', () => {
  expect(likenessOf('yes', 'no, not at all').like('yes')).toBeUndefined();
  expect(new Likeness().like('yes')).toBeUndefined();
});
