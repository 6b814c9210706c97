/** Every option held to its claims in the scenarios of this process: all of them, or those of the tables. */

import type { Measured } from '@mrtr/comparison/calls';
import { type LoadedOption, OPTIONS } from '@mrtr/comparison/options';
import { hostView, type Transcript } from '@mrtr/harness/transcript';
import { type Cell, measure, rehearse, SCENARIOS, TABLED } from '@mrtr/matrix';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LISTED, type OptionsOnPostgres, optionsOnPostgres } from '../testkit/options-on-postgres.ts';
import { schemaMistakes } from '../testkit/transcript-schema.ts';
import { CELLS_OF_AN_OPTION, type Extent, expectedCells, nameOfCell } from './expected-cells.ts';
import { ofOneCell, sameForTheHost, sameOnTheWire } from './invariants.ts';

export interface Measurements {
  readonly options: readonly LoadedOption[];
  readonly cells: readonly Cell[];
}

/** Measures before the tests, defines them, and returns what tests of the tables read. */
export function holdToClaims(extent: Extent): () => Measurements {
  const scenarios = extent === 'all' ? SCENARIOS : TABLED;
  const cells: Cell[] = [];
  let database: OptionsOnPostgres;

  beforeAll(async () => {
    database = await optionsOnPostgres();
    // H on PostgreSQL waits for its database most of the time, and the others are measured meanwhile.
    const isOnPostgres = ({ id }: Measured) => LISTED.some((one) => one.id === id && one.needsPostgres);
    const measureAll = async (options: readonly Measured[]) => {
      for (const option of options) cells.push(...(await measure(option, scenarios)));
    };
    const { options } = database;
    await Promise.all([
      measureAll(options.filter(isOnPostgres)),
      measureAll(options.filter((option) => !isOnPostgres(option))),
    ]);
  }, 180_000);
  afterAll(() => database?.close());

  it('measures every cell of every option, once each', () => {
    const expected = LISTED.flatMap(({ id }) => expectedCells(id, extent));
    expect(cells.map(nameOfCell).sort()).toEqual(expected.sort());
    expect(cells).toHaveLength(CELLS_OF_AN_OPTION[extent] * LISTED.length);
  });

  it('has everything that is measured in them', () => {
    const here = cells.map(({ call }) => call.measurement);
    const onMemory = here.filter(({ client, hosting }) => client === 'modern' && hosting === 'memory');
    // Two scripts of an option write an item, and one of them has a second round with state.
    expect(onMemory.filter(({ retriedTwice }) => retriedTwice)).toHaveLength(2 * LISTED.length);
    expect(onMemory.filter(({ forged }) => forged)).toHaveLength(LISTED.length);
  });

  it('records transcripts that fit their schema', () => {
    expect(schemaMistakes(cells.map(({ call }) => call.conversation))).toEqual([]);
  });

  it('gives a modern client the same results under another legacy policy', async () => {
    const [asked] = SCENARIOS.filter(
      ({ client, hosting, script }) =>
        client === 'modern' && hosting === 'memory' && script.name === 'duplicate',
    );
    for (const option of database.options) {
      const [shim, degrade] = await Promise.all(
        (['shim', 'degrade'] as const).map((legacy) =>
          rehearse(option, { ...(asked as (typeof SCENARIOS)[number]), legacy }),
        ),
      );
      expect(hostView(degrade as Transcript), option.id).toEqual(hostView(shim as Transcript));
    }
  });

  describe.each(['modern', 'unaskable', 'legacy'] as const)('%s client', (client) => {
    describe.each(['memory', 'fleet'] as const)('on %s', (hosting) => {
      const here = () =>
        cells.filter(({ scenario }) => scenario.client === client && scenario.hosting === hosting);

      it('the invariant test: every option shows the host application the same', () => {
        expect(sameForTheHost(here()).join('\n')).toBe('');
      });
      it('puts the same on the wire, but for requestState', () => {
        expect(sameOnTheWire(here()).join('\n')).toBe('');
      });
      it.each(OPTIONS.map(({ id }) => id))('option %s does what it claims', (id) => {
        const own = here().filter(({ call }) => call.measurement.option === id);
        if (LISTED.some((listed) => listed.id === id)) expect(own).not.toEqual([]);
        expect(own.flatMap(ofOneCell).join('\n')).toBe('');
      });
    });
  });

  return () => ({ options: database.options, cells });
}
