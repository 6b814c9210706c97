import { expect, test } from 'vitest';
import { heldBytes } from './held-bytes.ts';

test.each([
  ['a text by its bytes', 'é'.repeat(1000), 2000],
  ['an object by its members', { key: 'x'.repeat(1000) }, 1000],
  ['many small values by their number', Array.from({ length: 1000 }, () => ({})), 64_000],
  ['a map by its entries', new Map([['x'.repeat(500), 'y'.repeat(500)]]), 1000],
  ['binary data by its length', new Uint8Array(1000), 1000],
])('counts %s', (_what, value, least) => {
  expect(heldBytes(value)).toBeGreaterThanOrEqual(least);
  expect(heldBytes(value)).toBeLessThan(least + 10_000);
});

test('counts an object once, also in a circle', () => {
  const long = ['x'.repeat(1000)];
  const circle: Record<string, unknown> = { one: long, two: long };
  circle.self = circle;
  expect(heldBytes(circle)).toBeLessThan(1500);
});

test('looks at no more than it takes to exceed the limit', () => {
  const unseen = {
    get far(): never {
      throw new Error('Looked at.');
    },
  };
  expect(heldBytes([unseen, 'x'.repeat(100)], 100)).toBeGreaterThan(100);
});
