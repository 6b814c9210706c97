/** The tables of docs/checking.md that `pnpm check:options` measures. */
import { CHECKS, type Check, type Checked, type Verdict } from '@mrtr/check';
import type { ListedOption } from '@mrtr/options';
import { markdownTable } from 'markdown-table';
import { findings } from '../bare.test-support.ts';
import { FAULTS } from '../faults.ts';
import { REASONS } from './expected.ts';
import { SUBJECTS, type SubjectName } from './measure.ts';

export interface Measured {
  readonly option: Pick<ListedOption, 'id' | 'name' | 'title'>;
  readonly checked: Readonly<Record<SubjectName, readonly Checked[]>>;
}

const TOOLS = Object.keys(SUBJECTS) as SubjectName[];
const FLAT = { alignDelimiters: false };
const FINDINGS: readonly Verdict[] = ['fail', 'warn', 'advice', 'could-not-run'];

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
  const table = markdownTable([['Options', ...TOOLS.map((tool) => `\`${tool}\``)], ...lines], FLAT);
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

/** Check × (faulty server, the same without the fault, our options, what it cannot decide without). */
function proofsTable(measured: readonly Measured[]): string {
  const rows = FAULTS.map(({ id, found }) => [
    `\`${id}\``,
    found[id] ?? '',
    others(id, found),
    id === 'state.forged' ? 'not applicable: nothing is readable' : 'pass',
    onOptions(id, measured),
    needed(CHECKS.find((check) => check.id === id) as Check),
  ]);
  const head = ['Check', 'With its fault', 'Also found there', 'Without the fault', 'Our options', 'Needs'];
  return markdownTable([head, ...rows], FLAT);
}

const others = (id: string, found: Readonly<Record<string, Verdict>>): string =>
  Object.entries(found)
    .flatMap(([other, verdict]) => (other === id ? [] : [`\`${other}\` ${verdict}`]))
    .join(', ') || 'nothing';

function onOptions(id: string, measured: readonly Measured[]): string {
  const verdicts = measured.flatMap(({ option, checked }) => {
    const own = TOOLS.flatMap((tool) => checked[tool].filter(({ check }) => check.id === id));
    const worst = FINDINGS.find((verdict) => own.some((one) => one.verdict === verdict));
    return own.some(({ verdict }) => verdict === 'pass') || worst
      ? [{ name: option.name, verdict: worst ?? 'pass' }]
      : [];
  });
  if (verdicts.length === 0) return 'not applicable';
  const findings = FINDINGS.flatMap((verdict) => {
    const names = verdicts.filter((one) => one.verdict === verdict).map(({ name }) => name);
    return names.length === 0 ? [] : [`${verdict}: ${names.join(', ')}`];
  });
  return findings.length === 0 ? 'pass' : `pass, but ${findings.join('; ')}`;
}

const GIVEN: Readonly<Record<string, string>> = {
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

const needed = ({ needs }: Check): string =>
  needs.flatMap((need) => GIVEN[need] ?? []).join(', ') || 'nothing';

export const measuredBlocks = (measured: readonly Measured[]): Readonly<Record<string, string>> => ({
  'check: proofs': proofsTable(measured),
  'check: options': optionsTable(measured),
});
