/** The table of docs/checking-reference.md that `pnpm check:options` measures. */
import type { Checked, Verdict } from '@mrtr/check';
import type { ListedOption } from '@mrtr/options';
import { markdownTable } from 'markdown-table';
import { findings } from '../bare.test-support.ts';
import { REASONS } from './expected.ts';
import { SUBJECTS, type SubjectName } from './measure.ts';

export interface Measured {
  readonly option: Pick<ListedOption, 'id' | 'name' | 'title'>;
  readonly checked: Readonly<Record<SubjectName, readonly Checked[]>>;
}

const TOOLS = Object.keys(SUBJECTS) as SubjectName[];
const FINDINGS: readonly Verdict[] = ['fail', 'warn', 'advice', 'could-not-run'];

/** One row for all the options on which the same was found. */
function optionsTable(measured: readonly Measured[]): string {
  const rows = new Map<string, readonly Measured[]>();
  for (const one of measured) {
    const found = TOOLS.map((tool) => findingsIn(one.checked[tool]));
    const key = JSON.stringify(found);
    rows.set(key, [...(rows.get(key) ?? []), one]);
  }
  const lines = [...rows].map(([key, same]) => [
    same.map(({ option }) => `**${option.name}**`).join(', '),
    ...(JSON.parse(key) as string[]),
  ]);
  const table = markdownTable([['Options', ...TOOLS.map((tool) => `\`${tool}\``)], ...lines], {
    alignDelimiters: false,
  });
  return `${table}\n\n${reasons(measured)}`;
}

function findingsIn(checked: readonly Checked[]): string {
  const found = findings({ checked });
  const kinds = FINDINGS.flatMap((wanted) => {
    const ids = Object.entries(found).flatMap(([id, verdict]) => (verdict === wanted ? [`\`${id}\``] : []));
    return ids.length === 0 ? [] : [`${wanted}: ${ids.join(' ')}`];
  });
  return kinds.join('<br>') || 'nothing';
}

function reasons(measured: readonly Measured[]): string {
  const nameOf = (id: string) => measured.find(({ option }) => option.id === id)?.option.name ?? id;
  return REASONS.map(({ options, ids, why }) => {
    const what = ids.length > 4 ? 'all of these' : ids.map((id) => `\`${id}\``).join(', ');
    return `* **${options.map(nameOf).join(', ')}** (${what}): ${why}`;
  }).join('\n');
}

export const measuredBlocks = (measured: readonly Measured[]): Readonly<Record<string, string>> => ({
  'check: options': optionsTable(measured),
});
