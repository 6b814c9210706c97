/** Writes the results between the marks in docs/performance.md, and keeps the text around them. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Effort, type Figure, type Outcome, type Verdict, verdictOf } from '../benchmark.ts';
import { root } from '../start-up.ts';
import { machine } from './machine.ts';
import { shownGoal, shownSpread, shownValue } from './wording.ts';

/** One benchmark's part of the report. */
export interface Chapter extends Outcome {
  readonly name: string;
  readonly title: string;
  readonly seconds: number;
}

const BEGIN = '<!-- measured: written by `pnpm bench` -->';
const END = '<!-- /measured -->';

/** Writes the document; resolves with the document's path. */
export async function writeDocument(chapters: readonly Chapter[], effort: Effort): Promise<string> {
  const path = join(root(), 'docs/performance.md');
  const parts = chapters.map(section);
  const before = existsSync(path) ? await readFile(path, 'utf8') : `# Performance\n\n${BEGIN}\n${END}\n`;
  const [head, rest] = cut(before, BEGIN);
  const [, tail] = cut(rest, END);
  await writeFile(path, `${head}${BEGIN}\n\n${conditions(effort)}\n\n${parts.join('\n')}\n${END}${tail}`);
  return path;
}

function cut(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`docs/performance.md has lost its mark ${mark}.`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}

function conditions({ pace }: Effort): string {
  const { node, v8, openssl, sdk, machine: where, measured } = machine();
  return [
    `\`pnpm bench\` on ${measured}: Node ${node} (V8 ${v8}, OpenSSL ${openssl}), SDK ${sdk};`,
    `${where}. ${pace.rounds} rounds of ${pace.sliceMs} ms slices, interleaved.`,
  ].join('\n');
}

const WORDS: Readonly<Record<Verdict, string>> = {
  met: 'met',
  'within noise': 'within the noise',
  missed: '**missed**',
};

function section({ name, title, figures, notes, seconds }: Chapter): string {
  const judged = figures.filter(({ goal }) => goal);
  const others = figures.filter(({ goal }) => !goal);
  return [
    `### ${title}`,
    '',
    ...(judged.length > 0
      ? [
          row(['', 'measured', 'quartiles', 'A/A', 'goal', '']),
          row(['---', '---:', '---', '---', '---', '---']),
        ]
      : []),
    ...judged.map(judgedRow),
    ...withoutGoal(others, judged.length > 0),
    '',
    ...notes.flatMap((note) => [note, '']),
    `\`pnpm bench --only ${name}\`, ${seconds.toFixed(0)} s.`,
    '',
  ].join('\n');
}

/** Below figures with a goal, the others take one paragraph. */
function withoutGoal(figures: readonly Figure[], below: boolean): string[] {
  if (figures.length === 0) return [];
  if (below) {
    const shown = figures.map(({ what, value, unit }) => `${what}: ${shownValue(value, unit)}`);
    return ['', `Also measured: ${shown.join('; ')}.`];
  }
  return [
    row(['', 'measured', 'quartiles']),
    row(['---', '---:', '---']),
    ...figures.map((figure) =>
      row([figure.what, shownValue(figure.value, figure.unit), shownSpread(figure)]),
    ),
  ];
}

function judgedRow(figure: Figure): string {
  const { what, value, unit, goal, noise } = figure;
  const verdict = verdictOf(figure);
  return row([
    what,
    shownValue(value, unit),
    shownSpread(figure),
    noise === undefined ? '' : `±${(noise * 100).toFixed(1)} %`,
    goal ? shownGoal(goal, unit) : '',
    verdict ? WORDS[verdict] : '',
  ]);
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
