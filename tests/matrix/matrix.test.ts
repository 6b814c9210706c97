/** Every option × client × hosting × user × legacy policy, held to the five invariants. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseOfCalls, OPTIONS_AND_POSTGRES as OPTIONS } from '../testkit/options-on-postgres.ts';
import {
  type Cell,
  effectsAsClaimed,
  failsClearly,
  measure,
  mechanicsAsClaimed,
  retriesAsClaimed,
  SCENARIOS,
  sameForTheHost,
  sameOnTheWire,
} from './index.ts';

const cells: Cell[] = [];

let endDatabase = async () => {};

beforeAll(async () => {
  endDatabase = await databaseOfCalls();
  for (const option of OPTIONS) cells.push(...(await measure(option)));
}, 120_000);
afterAll(() => endDatabase(), 30_000);

it('covers every option in every scenario', () => {
  expect(cells).toHaveLength(OPTIONS.length * SCENARIOS.length);
});

describe.each(['modern', 'mute', 'legacy'] as const)('%s client', (client) => {
  describe.each(['memory', 'fleet'] as const)('on %s', (hosting) => {
    const here = () =>
      cells.filter(({ scenario }) => scenario.client === client && scenario.hosting === hosting);

    it('shows the host application the same, whatever the option', () => {
      expect(sameForTheHost(here()).join('\n')).toBe('');
    });
    it('puts the same on the wire, but for requestState', () => {
      expect(sameOnTheWire(here()).join('\n')).toBe('');
    });
    it.each(OPTIONS.map(({ id }) => id))('option %s does what it claims', (id) => {
      const own = here().filter(({ observed }) => observed.observation.option === id);
      expect(own.flatMap(effectsAsClaimed).join('\n')).toBe('');
      expect(own.flatMap(mechanicsAsClaimed).join('\n')).toBe('');
      expect(own.flatMap(failsClearly).join('\n')).toBe('');
      expect(own.flatMap(retriesAsClaimed).join('\n')).toBe('');
    });
  });
});
