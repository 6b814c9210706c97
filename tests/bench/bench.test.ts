import { expect, test } from 'vitest';
import { readArgs } from './args.ts';
import { type Figure, verdictOf } from './benchmark.ts';
import { codec } from './codec.ts';
import { runBenchmarks } from './run.ts';

test('a benchmark runs, and each of its figures is a number that says what it is', async () => {
  const { figures } = await codec.run(readArgs(['--quick']).effort);
  expect(figures.length).toBeGreaterThan(5);
  for (const { what, value } of figures)
    expect([what, Number.isFinite(value)]).toEqual([expect.any(String), true]);
});

test('an unknown benchmark is a mistake, and nothing runs', async () => {
  expect(await runBenchmarks(readArgs(['--only', 'nothing', '--json']))).toBe(2);
});

test('a goal is missed only by more than the noise', () => {
  const figure: Figure = { what: 'x', unit: '×', value: 1.05, goal: { most: 1 }, noise: 0.1 };
  expect(verdictOf(figure)).toBe('within noise');
  expect(verdictOf({ ...figure, noise: 0.01 })).toBe('missed');
  expect(verdictOf({ ...figure, value: 1 })).toBe('met');
  expect(verdictOf({ ...figure, value: 0.9, goal: { least: 1 } })).toBe('missed');
  expect(verdictOf({ ...figure, goal: undefined })).toBeUndefined();
});
