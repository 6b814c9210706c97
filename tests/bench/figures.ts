/** The figures of a benchmark, and docs/performance.md, which they are written into. */
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
  /** The most that it should be. */
  readonly goal?: number;
  /** The run's A/A spread, as a share. */
  readonly noise?: number;
}

export interface Benchmark {
  readonly name: string;
  readonly title: string;
  /** How it was measured. */
  readonly note?: string;
  readonly run: (pace: Pace) => Promise<readonly Figure[]>;
}

/** One benchmark's part of the report. */
export interface Chapter extends Omit<Benchmark, 'run'> {
  readonly figures: readonly Figure[];
  readonly seconds: number;
}

/** The ratio of two contestants. With a goal, it stands beside the noise of the race. */
export function ratioFigure(what: string, race: Race, name: string, of: string, goal?: number): Figure {
  const spread = race.ratio(name, of);
  const figure: Figure = { what, unit: '×', value: spread.median, spread };
  return goal === undefined ? figure : { ...figure, goal, noise: race.noise };
}

/** A bundled program, which lies beside this one. */
export const programAt = (name: string): string => fileURLToPath(new URL(`./${name}.mjs`, import.meta.url));

/** Whether a figure meets its goal; undefined if it has none. Only a missed one fails `--check`. */
export function verdictOf({ value, goal, noise = 0 }: Figure) {
  if (goal === undefined) return undefined;
  if (value <= goal) return 'met';
  return value / goal <= 1 + noise ? 'within the noise' : '**missed**';
}

/** A value with its unit, rounded to its significant digits. */
function formatValue(value: number, unit: Figure['unit']): string {
  if (unit === '×') return `${value.toFixed(value < 0.1 ? 3 : 2)}×`;
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`;
}

/** The cells of a figure: its name, value, quartiles, noise, goal and verdict. */
export function cellsOf(figure: Figure): readonly string[] {
  const { what, value, unit, spread, goal, noise } = figure;
  return [
    what,
    formatValue(value, unit),
    spread ? `${formatValue(spread.low, unit)} – ${formatValue(spread.high, unit)}` : '',
    noise === undefined ? '' : `±${(noise * 100).toFixed(1)} %`,
    goal === undefined ? '' : `≤ ${formatValue(goal, unit)}`,
    verdictOf(figure) ?? '',
  ];
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const section = ({ name, title, figures, note, seconds }: Chapter): string =>
  [
    `### ${title}\n`,
    row(['', 'measured', 'quartiles', 'A/A', 'goal', '']),
    row(['---', '---:', '---', '---', '---', '---']),
    ...figures.map((figure) => row(cellsOf(figure))),
    ...(note ? [`\n${note}`] : []),
    `\n\`pnpm bench --only ${name}\`, ${seconds.toFixed(0)} s.\n`,
  ].join('\n');

/** Versions, machine and effort. */
function describeRun({ rounds, sliceMs }: Pace): string {
  const { node, v8, openssl } = process.versions;
  // The SDK's manifest is not among its exports; it lies two folders above its entry.
  const manifest = new URL('../package.json', import.meta.resolve('@modelcontextprotocol/server'));
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  const machine = `${cpus()[0]?.model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`;
  return (
    `\`pnpm bench\` on ${new Date().toISOString().slice(0, 10)}: Node ${node} (V8 ${v8}, OpenSSL ${openssl}), SDK ${version};\n` +
    `${machine}, ${platform()} ${arch()}. ${rounds} rounds of ${sliceMs} ms slices, interleaved.`
  );
}

const MEASURED = /(?<=<!-- measured: written by `pnpm bench` -->\n\n)[\s\S]*(?=\n<!-- \/measured -->)/;

/** Replaces what was measured before in the document. */
export function writeDocument(chapters: readonly Chapter[], pace: Pace): void {
  const path = 'docs/performance.md';
  const measured = [describeRun(pace), '', ...chapters.map(section)].join('\n');
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace(MEASURED, () => measured),
  );
}
