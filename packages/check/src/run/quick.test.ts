import { expect, test } from 'vitest';
import { CHECKS } from '../checks/all.ts';
import { chooseWithin } from './quick.ts';

const idsAt = (rounds: number, ms: number): readonly string[] =>
  chooseWithin(CHECKS, rounds, ms).map(({ id }) => id);

test('a server that answers at once gets every check', () => {
  expect(idsAt(2, 2)).toEqual(CHECKS.map(({ id }) => id));
});

test('at 200 ms a call, checks that can fail come before advice, and all of them fit', () => {
  const ids = idsAt(1, 200);
  const calls = CHECKS.filter(({ id }) => ids.includes(id)).map((check) => check.calls(1) + 2);
  // The checks of the wire share requests, but each counts them.
  expect(calls.reduce((sum, one) => sum + one)).toBeLessThan(300);
  for (const id of ['wire.shape', 'retry.twice', 'refusal.no-effect', 'state.rolled-back', 'capability.mode'])
    expect(ids).toContain(id);
  for (const id of ['state.tampered', 'abandon.flat']) expect(ids).not.toContain(id);
});

test('a server that takes a second for a call still gets some checks', () => {
  expect(idsAt(1, 1000)).toContain('capability.undeclared');
});
