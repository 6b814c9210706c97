import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { bundle } from '../testkit/bundle.ts';
import { codec } from './codec.ts';
import { type Figure, verdictOf } from './figures.ts';
import { QUICK } from './race.ts';
import { SHAPES } from './subjects.ts';

test('the bundle of a program has every option in it', async () => {
  const file = await bundle(new URL('subjects.ts', import.meta.url));
  const bundled = await import(/* @vite-ignore */ pathToFileURL(file).href);
  expect(SHAPES.length).toBeGreaterThan(4);
  expect(bundled.SHAPES).toEqual(SHAPES);
  for (const id of SHAPES) expect(await bundled.servers(id)).toBeTypeOf('function');
});

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
  const floor: Figure = { ...figure, isFloor: true, value: 0.95 };
  expect(verdictOf(floor)).toBe('within the noise');
  expect(verdictOf({ ...floor, noise: 0.01 })).toBe('**missed**');
  expect(verdictOf({ ...floor, value: 1.05 })).toBe('met');
});
