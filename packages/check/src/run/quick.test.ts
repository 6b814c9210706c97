import { expect, test } from 'vitest';
import { CHECKS } from '../checks/all.ts';
import { chooseTurn, chooseWithin } from './quick.ts';

const FLAGS = { oneTime: true, needsConsent: false };
const MINUTE = 45_000;

const idsAt = (rounds: number, msPerCall: number, flags = FLAGS): readonly string[] =>
  chooseWithin(CHECKS, { ...flags, rounds, msPerCall }, MINUTE).map(({ id }) => id);

test('a server that answers at once gets every check', () => {
  expect(idsAt(2, 2)).toEqual(CHECKS.map(({ id }) => id));
});

test('at 200 ms a call, checks that can fail come before advice, and all of them fit', () => {
  const ids = idsAt(1, 200);
  const chosen = CHECKS.filter(({ id }) => ids.includes(id));
  // An attack on protected state needs no more than 45.
  const calls = chosen.map(({ id, calls }) => 2 + Math.min(calls(1), id.startsWith('state.') ? 45 : 999));
  // The checks of the wire share requests, but each counts them.
  expect(calls.reduce((sum, one) => sum + one)).toBeLessThan(300);
  for (const id of ['wire.shape', 'retry.twice', 'refusal.no-effect', 'state.rolled-back', 'capability.mode'])
    expect(ids).toContain(id);
  expect(ids).toContain('state.forged');
  for (const id of ['state.tampered', 'abandon.flat']) expect(ids).not.toContain(id);
});

test('what is only advice under the flags takes no time from a check that can fail', () => {
  const [declared, undeclared] = [idsAt(1, 400), idsAt(1, 400, { ...FLAGS, oneTime: false })];
  expect(declared).toContain('retry.concurrent');
  expect(declared).not.toContain('state.malformed');
  expect(undeclared).toContain('state.malformed');
  expect(undeclared).toContain('refusal.no-effect');
  expect(undeclared).not.toContain('retry.concurrent');
  expect(idsAt(1, 400, { oneTime: false, needsConsent: true })).toContain('consent.unasked-effect');
});

test('a turn is of one gravity, and a faster pace makes room for a check of many calls', () => {
  const idsOf = (msPerCall: number, flags = FLAGS) =>
    chooseTurn(CHECKS, { ...flags, rounds: 1, msPerCall }, MINUTE).map(({ id }) => id);
  expect(idsOf(300)).not.toContain('state.forged');
  expect(idsOf(50)).toEqual(expect.arrayContaining(['state.forged', 'state.tampered']));
  const musts = CHECKS.filter(({ level }) => level === 'M').map(({ id }) => id);
  expect(idsOf(50)).toEqual(musts);
  const secondUses = /^(retry\.|state\.rolled-back|instance\.replay|deploy\.)/;
  expect(idsOf(50, { ...FLAGS, oneTime: false })).toEqual(musts.filter((id) => !secondUses.test(id)));
});

test('a server that takes a second for a call still gets some checks', () => {
  expect(idsAt(1, 1000)).toContain('capability.undeclared');
});
