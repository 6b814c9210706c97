import { expect, test } from 'vitest';
import { codec } from './codec.ts';
import { type Figure, verdictOf } from './figures.ts';
import { QUICK } from './race.ts';

test('a benchmark runs, and each of its figures is a number that says what it is', async () => {
  const figures = await codec.run(QUICK);
  expect(figures.length).toBeGreaterThan(5);
  for (const { what, value } of figures)
    expect([what, Number.isFinite(value)]).toEqual([expect.any(String), true]);
});

test('a goal is missed only by more than the noise', () => {
  const figure: Figure = { what: 'x', unit: '×', value: 1.05, goal: 1, noise: 0.1 };
  expect(verdictOf(figure)).toBe('within the noise');
  expect(verdictOf({ ...figure, noise: 0.01 })).toBe('**missed**');
  expect(verdictOf({ ...figure, value: 1 })).toBe('met');
});
