/** `docs/checking-reference.md` matches the checks. Run this test with `MRTR_WRITE_DOCS=1` to update it. */
import { CHECKS, type Verdict } from '@mrtr/check';
import { OPTIONS } from '@mrtr/comparison/options';
import { updateBlocks } from '@mrtr/matrix/documents';
import { markdownTable } from 'markdown-table';
import { expect, test } from 'vitest';
import type { Found } from './bare.test-support.ts';
import { FAULTS } from './faults.ts';
import { EXPECTED, REASONS, TOOLS } from './options/expected.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

const checksTable = (): string =>
  markdownTable(
    [
      ['Check', '', 'Expected of the server'],
      ...CHECKS.map(({ id, level, expected }) => [`\`${id}\``, level, cell(expected)]),
    ],
    { alignDelimiters: false },
  );

/** One row for all options with the same findings. `pnpm check:options` verifies them. */
function optionsTable(): string {
  const rows = new Map<string, string[]>();
  for (const { id, name } of OPTIONS) {
    const key = JSON.stringify(TOOLS.map((tool) => findingsIn(EXPECTED[id]?.[tool] ?? {})));
    rows.set(key, [...(rows.get(key) ?? []), `**${name}**`]);
  }
  const lines = [...rows].map(([key, same]) => [same.join(', '), ...(JSON.parse(key) as string[])]);
  const head = ['Options', ...TOOLS.map((tool) => `\`${tool}\``)];
  return `${markdownTable([head, ...lines], { alignDelimiters: false })}\n\n${reasons()}`;
}

function findingsIn(found: Found): string {
  const kinds = (['fail', 'warn', 'advice'] satisfies Verdict[]).flatMap((wanted) => {
    const ids = CHECKS.flatMap(({ id }) => (found[id] === wanted ? [`\`${id}\``] : []));
    return ids.length === 0 ? [] : [`${wanted}: ${ids.join(' ')}`];
  });
  return kinds.join('<br>') || 'nothing';
}

function reasons(): string {
  const nameOf = (id: string) => OPTIONS.find((option) => option.id === id)?.name ?? id;
  return REASONS.map(({ options, why }) => {
    return `* **${options.map(nameOf).join(', ')}**: ${why}`;
  }).join('\n');
}

test('the tables of docs/checking-reference.md are up to date', async () => {
  const blocks = { 'check: checks': checksTable(), 'check: options': optionsTable() };
  const write = process.env.MRTR_WRITE_DOCS !== undefined;
  const stale = await updateBlocks(blocks, { write, only: Object.keys(blocks) });
  expect(write ? [] : stale, 'Update them: MRTR_WRITE_DOCS=1 pnpm test tests/check/document.test.ts').toEqual(
    [],
  );
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
