/** The figures of a benchmark, and the program that writes them into docs/performance.md. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Pace, Race, Spread } from './race.ts';

/** One measured number. */
export interface Figure {
  readonly what: string;
  readonly unit: '×' | 'B' | 'ms' | 'µs' | 'req/s' | 'calls/s';
  readonly value: number;
  readonly spread?: Spread;
  /** The highest value that meets the goal; with {@link isFloor} the lowest one. */
  readonly goal?: number;
  readonly isFloor?: boolean;
  /** The run's A/A spread, as a share. */
  readonly noise?: number;
}

export interface Benchmark {
  readonly name: string;
  readonly title: string;
  /** The method of the measurement. */
  readonly note?: string;
  readonly run: (pace: Pace) => Promise<readonly Figure[]>;
}

/** One benchmark's part of the report. */
export interface Chapter extends Omit<Benchmark, 'run'> {
  readonly figures: readonly Figure[];
}

/** The ratio of two contestants, with the race's noise. */
export function ratioFigure(what: string, race: Race, name: string, of: string, goal?: number): Figure {
  const spread = race.ratio(name, of);
  const figure: Figure = { what, unit: '×', value: spread.median, spread };
  return goal === undefined ? figure : { ...figure, goal, noise: race.noise };
}

/** The path of a bundled program. */
export const programAt = (name: string): string =>
  fileURLToPath(new URL(`../node_modules/.cache/bundles/${name}.mjs`, import.meta.url));

/** Whether a figure meets its goal; undefined if it has none. Only a missed one fails `--check`. */
export function verdictOf({ value, goal, isFloor, noise = 0 }: Figure) {
  if (goal === undefined) return undefined;
  const excess = isFloor ? goal / value : value / goal;
  if (excess <= 1) return 'met';
  return excess <= 1 + noise ? 'within the noise' : '**missed**';
}

/** A value with its unit, rounded to its significant digits. */
function formatValue(value: number, unit: Figure['unit']): string {
  if (unit === '×') return `${value.toFixed(value < 0.1 ? 3 : 2)}×`;
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`;
}

/** The cells of a figure: its name, its value, its quartiles, and its goal with the verdict. */
export function cellsOf(
  figure: Figure,
): readonly [what: string, value: string, spread: string, goal: string] {
  const { what, value, unit, spread, goal, isFloor, noise } = figure;
  const aa = noise === undefined ? '' : ` ±${(noise * 100).toFixed(1)}%`;
  return [
    what,
    formatValue(value, unit),
    spread ? `${formatValue(spread.low, unit)} – ${formatValue(spread.high, unit)}` : '',
    goal === undefined ? '' : `${isFloor ? '≥' : '≤'} ${formatValue(goal, unit)}${aa}: ${verdictOf(figure)}`,
  ];
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** The document's rows. Shapes that were measured alike, with the same verdict, share one. Quartiles are only printed. */
function rowsOf(figures: readonly Figure[]): readonly string[] {
  const values = new Map<string, string[]>();
  for (const [what, value, , goal] of figures.map(cellsOf)) {
    const [, shape, measured = what] = /^([A-Z](?: in \w+| on \w+)?|\/[\w-]+), (.+)$/.exec(what) ?? [];
    const key = JSON.stringify([measured, goal]);
    values.set(key, [...(values.get(key) ?? []), shape ? `${shape} ${value}` : value]);
  }
  return [...values].map(([key, all]) => {
    const [measured, goal] = JSON.parse(key) as [string, string];
    return row([measured, all.join(', '), goal]);
  });
}

const section = ({ title, figures, note }: Chapter): string =>
  [
    `### ${title}\n`,
    row(['', 'measured', 'goal']),
    row(['---', '---', '---']),
    ...rowsOf(figures),
    ...(note ? [`\n${note}`] : []),
    '',
  ].join('\n');

/** The measured commit. A tree with changes is marked, because nobody can measure it again. */
const describeCommit = (): string =>
  execFileSync('git', ['describe', '--always', '--exclude=*', '--dirty=, with changes'], {
    encoding: 'utf8',
  }).trim();

/** Commit, versions, machine, its other work, and effort. To be called before the run, which makes work of its own. */
export function describeRun({ rounds, sliceMs }: Pace): string {
  // The SDK does not export its manifest, which is two folders above its entry.
  const manifest = new URL('../package.json', import.meta.resolve('@modelcontextprotocol/server'));
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  const commit = describeCommit();
  const machine = `${cpus()[0]?.model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`;
  return (
    `Commit ${commit}, ${new Date().toISOString().slice(0, 10)}: Node ${process.versions.node}, SDK ${version};\n` +
    `${machine}, ${platform()} ${arch()}, load average ${loadavg()[0]?.toFixed(1)} before the run. ` +
    `${rounds} rounds of ${sliceMs} ms slices, interleaved.`
  );
}

const MEASURED = /(?<=<!-- measured: written by `pnpm bench` -->\n\n)[\s\S]*(?=\n<!-- \/measured -->)/;

/** Replaces the earlier figures in the document. */
export function writeDocument(run: string, chapters: readonly Chapter[]): void {
  const path = 'docs/performance.md';
  const measured = [run, '', ...chapters.map(section)].join('\n');
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace(MEASURED, () => measured),
  );
}
