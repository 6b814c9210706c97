/** Formats figures for the terminal, and writes them into docs/performance.md. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Effort, type Figure, type Goal, type Outcome, type Verdict, verdictOf } from './benchmark.ts';

/** One benchmark's part of the report. */
export interface Chapter extends Outcome {
  readonly name: string;
  readonly title: string;
  readonly seconds: number;
}

const BEGIN = '<!-- measured: written by `pnpm bench` -->';
const END = '<!-- /measured -->';
const WORDS: Readonly<Record<Verdict, string>> = {
  met: 'met',
  'within noise': 'within the noise',
  missed: '**missed**',
};

/** A value with its unit, rounded to its significant digits. */
function formatValue(value: number, unit: Figure['unit']): string {
  const digits = unit === '×' ? 2 : value < 10 ? 2 : value < 100 ? 1 : 0;
  return `${value.toFixed(unit === '×' && value < 0.1 ? 3 : digits)}${unit === '×' ? unit : ` ${unit}`}`;
}

const formatGoal = ({ most }: Goal, unit: Figure['unit']): string => `≤ ${formatValue(most, unit)}`;

/** The cells of a figure: its name, value, quartiles, noise, goal and verdict. */
export function cellsOf(figure: Figure): readonly string[] {
  const { what, value, unit, spread, goal, noise } = figure;
  const verdict = verdictOf(figure);
  return [
    what,
    formatValue(value, unit),
    spread ? spread.map((quartile) => formatValue(quartile, unit)).join(' – ') : '',
    noise === undefined ? '' : `±${(noise * 100).toFixed(1)} %`,
    goal ? formatGoal(goal, unit) : '',
    verdict ? WORDS[verdict] : '',
  ];
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

function section({ name, title, figures, note, seconds }: Chapter): string {
  return [
    `### ${title}`,
    '',
    row(['', 'measured', 'quartiles', 'A/A', 'goal', '']),
    row(['---', '---:', '---', '---', '---', '---']),
    ...figures.map((figure) => row(cellsOf(figure))),
    '',
    ...(note ? [note, ''] : []),
    `\`pnpm bench --only ${name}\`, ${seconds.toFixed(0)} s.`,
    '',
  ].join('\n');
}

/** The repository's root: a folder above this file, also in the layout of a run. */
function root(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'pnpm-workspace.yaml'))) folder = dirname(folder);
  return folder;
}

/** Versions, machine and effort. */
function conditions({ pace }: Effort): string {
  const { node, v8, openssl } = process.versions;
  // The SDK's manifest is not among its exports; it lies two folders above its entry.
  const manifest = new URL('../package.json', import.meta.resolve('@modelcontextprotocol/server'));
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  const memory = Math.round(totalmem() / 2 ** 30);
  const machine = `${cpus()[0]?.model}, ${cpus().length} cores, ${memory} GiB, ${platform()} ${arch()}`;
  const today = new Date().toISOString().slice(0, 10);
  return [
    `\`pnpm bench\` on ${today}: Node ${node} (V8 ${v8}, OpenSSL ${openssl}), SDK ${version};`,
    `${machine}. ${pace.rounds} rounds of ${pace.sliceMs} ms slices, interleaved.`,
  ].join('\n');
}

/** Replaces what was measured before in the document. */
export function writeDocument(chapters: readonly Chapter[], effort: Effort): void {
  const path = join(root(), 'docs/performance.md');
  const [head, rest = ''] = readFileSync(path, 'utf8').split(BEGIN);
  const [, tail] = rest.split(END);
  if (tail === undefined) throw new Error(`docs/performance.md has lost its marks ${BEGIN} and ${END}.`);
  const measured = [conditions(effort), '', ...chapters.map(section)].join('\n');
  writeFileSync(path, `${head}${BEGIN}\n\n${measured}\n${END}${tail}`);
}
