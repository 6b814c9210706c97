/** Every option in processes of its own, held to the invariants, and to two more that only processes can show. */

import { moduleOf } from '@mrtr/options';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  effectsAsClaimed,
  failsClearly,
  mechanicsAsClaimed,
  sameForTheHost,
  sameOnTheWire,
} from '../matrix/index.ts';
import { databaseOfCalls, OPTIONS_AND_POSTGRES as OPTIONS } from '../testkit/options-on-postgres.ts';
import {
  type KillCell,
  killsAsClaimed,
  measureProcesses,
  PROCESS_PLAYS,
  type ProcessCell,
  Processes,
  sameAcrossHostings,
} from './index.ts';

let endDatabase = async () => {};
let processes: Processes | undefined;
let cells: readonly ProcessCell[];
let kills: readonly KillCell[];

beforeAll(async () => {
  endDatabase = await databaseOfCalls();
  processes = await Processes.start(moduleOf);
  ({ cells, kills } = await measureProcesses(OPTIONS, processes));
}, 180_000);

afterAll(async () => {
  await processes?.close();
  await endDatabase();
}, 60_000);

it('covers every option in every play', () => {
  const plays = Object.values(PROCESS_PLAYS).flat();
  expect(cells).toHaveLength(OPTIONS.length * plays.length);
  expect(kills).toHaveLength(OPTIONS.length * PROCESS_PLAYS.processes.length);
});

describe.each(['stdio', 'http', 'processes'] as const)('on %s', (hosting) => {
  const here = () => cells.filter(({ scenario }) => scenario.hosting === hosting);

  it('shows the host application the same as in one process', () => {
    expect(sameAcrossHostings(here()).join('\n')).toBe('');
  });
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
  });
});

describe('killed with SIGKILL while the user is thinking', () => {
  it.each(OPTIONS.map(({ id }) => id))('option %s does what it claims', (id) => {
    const own = kills.filter(({ option }) => option.id === id);
    expect(own.filter(({ survivor }) => survivor.asked).length).toBeGreaterThan(0);
    expect(own.flatMap(killsAsClaimed).join('\n')).toBe('');
  });
});
