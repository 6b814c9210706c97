/** Checks the invariants for options in separate processes, and two more that only processes can show. */

import { eventsOf } from '@mrtr/harness/transcript';
import { ofOneCell, sameForTheHost, sameOnTheWire } from '@mrtr/matrix';
import {
  type KillCell,
  killsAsClaimed,
  measureProcesses,
  type Plays,
  type ProcessCell,
  Processes,
  sameAcrossHostings,
} from '@mrtr/matrix/processes';
import type { ListedOption } from '@mrtr/options';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cellsAmiss } from '../testkit/cells.ts';
import { type OptionsOnPostgres, optionsOnPostgres } from '../testkit/options-on-postgres.ts';
import { schemaMistakes } from '../testkit/transcript-schema.ts';
import {
  CELLS_OF_AN_OPTION,
  COMPARED_OF_AN_OPTION,
  expectedCells,
  expectedKills,
  KILLS_OF_AN_OPTION,
  nameOfCell,
  nameOfKill,
} from './expected-cells.ts';

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

  it('measures every call on every hosting, and every one of a fleet through a kill', () => {
    const which = plays === undefined ? 'all' : 'brief';
    expect(ids).not.toEqual([]);
    expect(database?.options.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    const measured = cells.map(({ scenario, observed }) => nameOfCell(observed.observation.option, scenario));
    const expected = ids.flatMap((id) => expectedCells(id, which));
    expect(cellsAmiss(expected, measured).join('\n')).toBe('');
    expect(cells).toHaveLength(CELLS_OF_AN_OPTION[which] * ids.length);
    expect(cellsAmiss(ids.flatMap(expectedKills), kills.map(nameOfKill)).join('\n')).toBe('');
    expect(kills).toHaveLength(KILLS_OF_AN_OPTION * ids.length);
    // A call on http is compared with the same one on processes, and with the one through a kill.
    const compared = cells.filter(({ observed: { observation } }) =>
      [observation.otherInstance, observation.restart].every((survival) => survival !== 'not measured'),
    );
    expect(compared).toHaveLength(COMPARED_OF_AN_OPTION[which] * ids.length);
  });

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
      expect(own.flatMap(ofOneCell).join('\n')).toBe('');
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
