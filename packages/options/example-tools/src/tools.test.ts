import { expect, test } from 'vitest';
import { getWeatherTool, resolveWorkItemTool } from './tools.ts';

test('a location has between 1 and 200 characters', () => {
  const fits = (location: string) => getWeatherTool.inputSchema.safeParse({ location }).success;
  expect([fits(''), fits('a'), fits('a'.repeat(200)), fits('a'.repeat(201))]).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test('a work item has a positive whole id and one of two states', () => {
  const fits = (id: number, state: string) =>
    resolveWorkItemTool.inputSchema.safeParse({ id, state }).success;
  expect(fits(4522, 'Resolved')).toBe(true);
  expect([fits(0, 'Active'), fits(1.5, 'Active'), fits(4522, 'Closed')]).toEqual([false, false, false]);
});
