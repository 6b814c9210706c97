/** Checks the invariants for options in separate processes, and two more that only processes can show. */

import { eventsOf } from '@mrtr/harness/transcript';
import type { ListedOption } from '@mrtr/options';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  effectsAsClaimed,
  failsClearly,
  mechanicsAsClaimed,
  sameForTheHost,
  sameOnTheWire,
} from '../matrix/index.ts';
import { type OptionsOnPostgres, optionsOnPostgres } from '../testkit/options-on-postgres.ts';
import { schemaMistakes } from '../testkit/transcript-schema.ts';
import {
  type KillCell,
  killsAsClaimed,
  measureProcesses,
  type Plays,
  type ProcessCell,
  Processes,
  sameAcrossHostings,
} from './index.ts';

/** Measures the `listed` options in `plays` (default: all of them), and defines the tests. */
export function holdToClaims(listed: readonly Pick<ListedOption, 'id'>[], plays?: Plays): void {
  const ids = listed.map(({ id }) => id);
  let database: OptionsOnPostgres | undefined;
  let processes: Processes | undefined;
  let cells: readonly ProcessCell[];
  let kills: readonly KillCell[];

  beforeAll(async () => {
    database = await optionsOnPostgres();
    const options = database.options.filter(({ id }) => ids.includes(id));
    processes = await Processes.start(database.locate);
    ({ cells, kills } = await measureProcesses(options, processes, plays));
  }, 180_000);

  afterAll(async () => {
    await processes?.close();
    await database?.close();
  }, 60_000);

  it('records transcripts that fit their schema, also through kills', () => {
    const killed = kills.map(({ survivor }) => survivor.conversation);
    expect(schemaMistakes([...cells.map(({ observed }) => observed.conversation), ...killed])).toEqual([]);
    expect(killed.flatMap(({ events }) => eventsOf('kill', events)).length).toBeGreaterThan(0);
  });

  describe.each(['stdio', 'http', 'processes'] as const)('on %s', (hosting) => {
    const here = () => cells.filter(({ scenario }) => scenario.hosting === hosting);

    it('shows the host application the same as in one process', () => {
      expect(sameAcrossHostings(here()).join('\n')).toBe('');
    });
    it('shows the host application the same with every option', () => {
      expect(sameForTheHost(here()).join('\n')).toBe('');
    });
    it('puts the same on the wire, but for requestState', () => {
      expect(sameOnTheWire(here()).join('\n')).toBe('');
    });
    it.each(ids)('option %s does what it claims', (id) => {
      const own = here().filter(({ observed }) => observed.observation.option === id);
      expect(own.flatMap(effectsAsClaimed).join('\n')).toBe('');
      expect(own.flatMap(mechanicsAsClaimed).join('\n')).toBe('');
      expect(own.flatMap(failsClearly).join('\n')).toBe('');
    });
  });

  describe('killed with SIGKILL while the user is thinking', () => {
    it.each(ids)('option %s does what it claims', (id) => {
      const own = kills.filter(({ option }) => option.id === id);
      expect(own.filter(({ survivor }) => survivor.asked).length).toBeGreaterThan(0);
      expect(own.flatMap(killsAsClaimed).join('\n')).toBe('');
    });
  });
}
