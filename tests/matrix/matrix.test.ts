/** The scenarios that the documents' tables show, and the tables. `matrix.proof.ts` has every scenario. */

import { GET_WEATHER } from '@mrtr/comparison';
import type { Measured } from '@mrtr/comparison/calls';
import { OPTIONS } from '@mrtr/comparison/options';
import { SELF_ANSWERING } from '@mrtr/comparison/self-answering';
import { GUARDED } from '@mrtr/demo-approve';
import {
  measuredTables,
  measureUnattended,
  measureUndrawn,
  type UnattendedCell,
  type UndrawnCell,
} from '@mrtr/matrix';
import { updateBlocks } from '@mrtr/matrix/documents';
import { beforeAll, describe, expect, test } from 'vitest';
import { LISTED } from '../testkit/options-on-postgres.ts';
import { holdToClaims } from './claims.test-support.ts';
import { CELLS_OF_AN_OPTION, expectedCells, KNOWN_OPTIONS } from './expected-cells.ts';
import { ofOneCell } from './invariants.ts';

const measured = holdToClaims('brief');
let unattended: readonly UnattendedCell[] = [];
let undrawn: readonly UndrawnCell[] = [];

beforeAll(async () => {
  unattended = [
    ...(await measureUnattended(measured().options, 'Resolved')),
    ...(await measureUnattended(GUARDED, 'Active')),
  ];
  undrawn = await measureUndrawn(measured().options);
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

describe('a client that does not draw every form', () => {
  const shapes = [...'abcdefghij'].map((id) => id.toUpperCase());

  test('is measured at every shape, in both eras, on its own field and on one that every client draws', () => {
    const isOnPostgres = LISTED.some(({ needsPostgres }) => needsPostgres);
    const measuredShapes = isOnPostgres ? [...shapes, 'H on PostgreSQL'].sort() : shapes;
    expect([...new Set(undrawn.map(({ option }) => option))].sort()).toEqual(measuredShapes);
    expect(undrawn).toHaveLength(measuredShapes.length * 7 * 2 * 2);
    expect(new Set(undrawn.map((cell) => Object.values(nameOfUndrawn(cell)).join())).size).toBe(
      undrawn.length,
    );
  });

  test('ends at the third prompt at the latest, and the operator hears once of an end without an answer', () => {
    for (const cell of undrawn) {
      const { prompts, end, errors } = cell;
      const isGivenUp = end?.isError === true;
      expect(prompts.length, inWords(cell)).toBeLessThanOrEqual(isGivenUp ? 3 : 1);
      expect(
        errors.map(({ message }) => message),
        inWords(cell),
      ).toEqual(
        isGivenUp
          ? [
              expect.stringMatching(
                /^No answer to '(?:form|name_field)' fitted its form \(name: string, field: /,
              ),
            ]
          : [],
      );
    }
    expect(undrawn.filter(({ end }) => end?.isError).length).toBeGreaterThan(0);
  });

  test('reads in every prompt after the first why its answer did not fit', () => {
    const again = undrawn.flatMap((cell) => cell.prompts.slice(1).map((prompt) => ({ cell, prompt })));
    expect(again.length).toBeGreaterThan(undrawn.length / 4);
    for (const { cell, prompt } of again)
      expect(prompt, inWords(cell)).toMatch(
        /^Please fill in this form\.\n\n(?:The last answer did not fit|The form came back empty)\. “/,
      );
  });

  test('gets the same of every shape, in both eras', () => {
    const seen = undrawn.map(({ behaviour, field, prompts, end }) => [
      `${behaviour}, ${field}`,
      // B names a question after the fields of its form.
      `${prompts.length} ${end?.isError} ${JSON.stringify(end?.content).replaceAll('name_field', 'form')}`,
    ]);
    expect(new Set(seen.map(String)).size).toBe(new Set(seen.map(([asked]) => asked)).size);
  });
});

const nameOfUndrawn = ({ option, behaviour, field, client }: UndrawnCell) => ({
  option,
  behaviour,
  field,
  client,
});
const inWords = (cell: UndrawnCell) => JSON.stringify(nameOfUndrawn(cell));

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
  const tables = measuredTables(options, cells, unattended, undrawn);
  expect(await updateBlocks(tables, { write: false, only: 'measured' })).toEqual([]);
});
