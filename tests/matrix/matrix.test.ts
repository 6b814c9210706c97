/** The scenarios that the documents' tables show, and the tables. `matrix.proof.ts` has every scenario. */

import { GET_WEATHER } from '@mrtr/comparison';
import type { Measured } from '@mrtr/comparison/calls';
import { OPTIONS } from '@mrtr/comparison/options';
import { SELF_ANSWERING } from '@mrtr/comparison/self-answering';
import { GUARDED } from '@mrtr/demo-approve';
import { measuredTables, measureUnattended, ofOneCell, type UnattendedCell } from '@mrtr/matrix';
import { updateBlocks } from '@mrtr/matrix/documents';
import { beforeAll, describe, expect, test } from 'vitest';
import { LISTED } from '../testkit/options-on-postgres.ts';
import { holdToClaims } from './claims.test-support.ts';
import { CELLS_OF_AN_OPTION, expectedCells, KNOWN_OPTIONS } from './expected-cells.ts';

const measured = holdToClaims('brief');
let unattended: readonly UnattendedCell[] = [];

beforeAll(async () => {
  unattended = [
    ...(await measureUnattended(measured().options, 'Resolved')),
    ...(await measureUnattended(GUARDED, 'Active')),
  ];
});

test('owes as many cells of an option as the numbers say, and has every option that is known', () => {
  for (const extent of ['all', 'brief'] as const) {
    expect(expectedCells('a', extent)).toHaveLength(CELLS_OF_AN_OPTION[extent]);
  }
  const listed = OPTIONS.map(({ id }) => id);
  expect(KNOWN_OPTIONS.filter((id) => !listed.includes(id))).toEqual([]);
  expect(KNOWN_OPTIONS).toHaveLength(13);
  const isOnPostgres = LISTED.some(({ needsPostgres }) => needsPostgres);
  expect(LISTED).toHaveLength(OPTIONS.length - (isOnPostgres ? 0 : 1));
});

describe('a client that answers by itself', () => {
  /** The rows of the table that it takes in. */
  const takenIn = (client: string) =>
    unattended.flatMap(({ subject, client: one, writes }) => (one === client && writes > 0 ? [subject] : []));
  const names = (rows: readonly Pick<Measured, 'id' | 'name'>[]) =>
    rows.map(({ id, name = id.toUpperCase() }) => name);

  test('is measured at every option, and at every approval in G and J, once each', () => {
    const rows = [...names(measured().options), ...names(GUARDED)];
    expect(unattended.map(({ subject, client }) => `${subject}, ${client}`)).toEqual(
      rows.flatMap((row) => SELF_ANSWERING.map((client) => `${row}, ${client}`)),
    );
    expect(SELF_ANSWERING).toHaveLength(4);
    expect(names(GUARDED)).toHaveLength(6);
    expect(unattended.filter(({ questions }) => questions === 0)).toEqual([]);
  });

  test('takes in no form with an acceptance without content, or by declining', () => {
    expect([takenIn('an empty acceptance'), takenIn('decline everything')]).toEqual([[], []]);
  });

  test('takes in every option with the first value that fits, and no approval', () => {
    expect(takenIn('the first value that fits')).toEqual(names(measured().options));
  });

  test('takes in every form with the affirmative value, and no page', () => {
    const forms = names(GUARDED).filter((name) => !name.includes('approvalPage'));
    expect(forms).toHaveLength(4);
    expect(takenIn('the affirmative value')).toEqual([...names(measured().options), ...forms]);
  });
});

test('the footgun test: a call writes one audit entry, and two only in B and in E naive', () => {
  const audits = measured().cells.flatMap(({ call: { measurement } }) => {
    const { option, client, hosting, tool, audits } = measurement;
    return client === 'modern' && hosting === 'memory' && tool === GET_WEATHER ? [[option, audits]] : [];
  });
  const expected = LISTED.map(({ id }) => [id, ['b', 'e-naive'].includes(id) ? 2 : 1]);
  expect(Object.fromEntries(audits)).toEqual(Object.fromEntries(expected));
});

test('every measured table of the documents is up to date; `pnpm matrix --write` brings it up to date', async () => {
  const { options, cells } = measured();
  expect(cells.flatMap(ofOneCell), 'The tables are not compared, because claims failed').toEqual([]);
  const tables = measuredTables(options, cells, unattended);
  expect(await updateBlocks(tables, { write: false, only: 'measured' })).toEqual([]);
});
