/** The figures of a benchmark, and the program that writes them into docs/performance.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform, totalmem } from 'node:os';
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

/** The cells of a figure: its name, value, quartiles, noise, goal and verdict. */
export function cellsOf(figure: Figure): readonly string[] {
  const { what, value, unit, spread, goal, isFloor, noise } = figure;
  return [
    what,
    formatValue(value, unit),
    spread ? `${formatValue(spread.low, unit)} – ${formatValue(spread.high, unit)}` : '',
    noise === undefined ? '' : `±${(noise * 100).toFixed(1)} %`,
    goal === undefined ? '' : `${isFloor ? '≥' : '≤'} ${formatValue(goal, unit)}`,
    verdictOf(figure) ?? '',
  ];
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** The document's rows. Shapes that were measured alike, with the same verdict, share one. Quartiles are only printed. */
function rowsOf(figures: readonly (readonly string[])[]): readonly string[] {
  const values = new Map<string, string[]>();
  for (const [what = '', value, , ...judged] of figures) {
    const [, shape, measured = what] = /^([A-Z](?: in \w+| on \w+)?|\/[\w-]+), (.+)$/.exec(what) ?? [];
    const key = JSON.stringify([measured, ...judged]);
    values.set(key, [...(values.get(key) ?? []), shape ? `${shape} ${value}` : `${value}`]);
  }
  return [...values].map(([key, all]) => {
    const [measured, ...judged] = JSON.parse(key) as [string, ...string[]];
    return row([measured, all.join(', '), ...judged]);
  });
}

const section = ({ title, figures, note }: Chapter): string =>
  [
    `### ${title}\n`,
    row(['', 'measured', 'A/A', 'goal', '']),
    row(['---', '---', '---', '---', '---']),
    ...rowsOf(figures.map(cellsOf)),
    ...(note ? [`\n${note}`] : []),
    '',
  ].join('\n');

/** Versions, machine and effort. */
function describeRun({ rounds, sliceMs }: Pace): string {
  const { node, v8, openssl } = process.versions;
  // The SDK does not export its manifest, which is two folders above its entry.
  const manifest = new URL('../package.json', import.meta.resolve('@modelcontextprotocol/server'));
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  const machine = `${cpus()[0]?.model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`;
  return (
    `\`pnpm bench\` on ${new Date().toISOString().slice(0, 10)}: Node ${node} (V8 ${v8}, OpenSSL ${openssl}), SDK ${version};\n` +
    `${machine}, ${platform()} ${arch()}. ${rounds} rounds of ${sliceMs} ms slices, interleaved.`
  );
}

const MEASURED = /(?<=<!-- measured: written by `pnpm bench` -->\n\n)[\s\S]*(?=\n<!-- \/measured -->)/;

/** Replaces the earlier figures in the document. */
export function writeDocument(chapters: readonly Chapter[], pace: Pace): void {
  const path = 'docs/performance.md';
  const measured = [describeRun(pace), '', ...chapters.map(section)].join('\n');
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace(MEASURED, () => measured),
  );
}
