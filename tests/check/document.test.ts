/** `docs/checking-reference.md` says what the checks say. `MRTR_WRITE_DOCS=1` before this test's command brings it up to date. */
import { CHECKS } from '@mrtr/check';
import { updateBlocks } from '@mrtr/matrix/documents';
import { markdownTable } from 'markdown-table';
import { expect, test } from 'vitest';
import { FAULTS } from './faults.ts';
import { EXPECTED, REASONS } from './options/expected.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

const INPUTS: Readonly<Record<string, string>> = {
  effects: '`--probe`',
  'other-arguments': '`--other-arguments`, where none can be made',
  'other-tool': '`--other-operation`',
  'other-method': '`--other-operation`',
  'other-principal': '`--other-header`',
  'second-instance': '`--also` or a command',
  restart: '`--restart` or a command',
  next: '`--next`',
  ttl: '`--ttl`',
};

const checksTable = (): string =>
  markdownTable(
    [
      ['Check', '', 'Expected of the server', 'Not run without'],
      ...CHECKS.map(({ id, level, expected, needs }) => [
        `\`${id}\``,
        level,
        cell(expected),
        needs.flatMap((need) => INPUTS[need] ?? []).join(', '),
      ]),
    ],
    { alignDelimiters: false },
  );

test('the table of checks in docs/checking-reference.md is up to date', async () => {
  const blocks = { 'check: checks': checksTable() };
  const write = process.env.MRTR_WRITE_DOCS !== undefined;
  const stale = await updateBlocks(blocks, { write, only: Object.keys(blocks) });
  expect(write ? [] : stale).toEqual([]);
});

test('the faults of the bare server are those that the checks look for', () => {
  expect(FAULTS.map(({ id }) => id).toSorted()).toEqual(CHECKS.map(({ id }) => id).toSorted());
});

test('every finding that is expected on an option has a sentence, and every sentence a finding', () => {
  const found = Object.entries(EXPECTED).flatMap(([option, byTool]) =>
    Object.values(byTool).flatMap((findings) => Object.keys(findings).map((id) => `${option} ${id}`)),
  );
  const said = REASONS.flatMap(({ options, ids }) =>
    options.flatMap((option) => ids.map((id) => `${option} ${id}`)),
  );
  expect(said.toSorted()).toEqual([...new Set(found)].toSorted());
});
