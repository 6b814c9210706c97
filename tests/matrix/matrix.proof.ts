/** H on PostgreSQL in every scenario of the matrix. Each of its calls takes twenty times as long as one in memory. */

import { type Cell, measure, ofOneCell, sameForTheHost, sameOnTheWire } from '@mrtr/matrix';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cellsAmiss } from '../testkit/cells.ts';
import { LISTED, type OptionsOnPostgres, optionsOnPostgres } from '../testkit/options-on-postgres.ts';
import { CELLS_OF_AN_OPTION, expectedCells, nameOfCell } from './expected-cells.ts';

const durable = LISTED.filter(({ needsPostgres }) => needsPostgres).map(({ id }) => id);
const cells: Cell[] = [];
let database: OptionsOnPostgres | undefined;

beforeAll(async () => {
  database = await optionsOnPostgres();
  // E beside it, so that what the host sees and what goes over the wire have something to be equal to.
  for (const option of database.options) {
    if (option.id === 'e' || durable.includes(option.id)) cells.push(...(await measure(option)));
  }
}, 180_000);
afterAll(() => database?.close(), 30_000);

it.each(durable)('option %s does what it claims in every scenario', (id) => {
  const own = cells.filter(({ observed }) => observed.observation.option === id);
  expect(cellsAmiss(expectedCells(id), own.map(nameOfCell)).join('\n')).toBe('');
  expect(own.flatMap(ofOneCell).join('\n')).toBe('');
});

it('has every scenario of option E to compare with', () => {
  const own = cells.filter(({ observed }) => observed.observation.option === 'e');
  expect(cellsAmiss(expectedCells('e'), own.map(nameOfCell)).join('\n')).toBe('');
  expect(cells).toHaveLength(CELLS_OF_AN_OPTION * (1 + durable.length));
});

it('shows the host application, and puts on the wire, the same as option E', () => {
  for (const client of ['modern', 'mute', 'legacy']) {
    for (const hosting of ['memory', 'fleet']) {
      const here = cells.filter(({ scenario }) => scenario.client === client && scenario.hosting === hosting);
      expect(sameForTheHost(here).join('\n')).toBe('');
      expect(sameOnTheWire(here).join('\n')).toBe('');
    }
  }
});
