/** What is wrong with a run: a low score, a survivor that nobody has explained, an explanation without a survivor. */
import { LEAST_SCORE } from './targets.ts';

type Status = 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'CompileError' | 'RuntimeError' | 'Ignored';

interface Position {
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
}

export interface Mutant {
  readonly mutatorName: string;
  readonly replacement: string;
  readonly status: Status;
  readonly location: { readonly start: Position; readonly end: Position };
}

export interface MutatedFile {
  readonly source: string;
  readonly mutants: readonly Mutant[];
}

export interface Survivor {
  readonly file: string;
  readonly line: number;
  /** Names it in docs/mutation.md. It has no line number, so it stays the same when other lines change. */
  readonly key: string;
}

export interface FileResult {
  readonly file: string;
  readonly mutants: number;
  readonly killed: number;
  readonly timeout: number;
  readonly survivors: readonly Survivor[];
  /** Noticed mutants in percent. */
  readonly score: number;
}

/** Survivors that docs/mutation.md explains, by file. */
export type Explained = ReadonlyMap<string, readonly string[]>;

const LONGEST_TEXT = 100;

/** Counts the mutants of one file. Those that do not compile or were ignored are none. */
export function resultOf(file: string, { source, mutants }: MutatedFile): FileResult {
  const real = mutants
    .filter(({ status }) => /^(?:Killed|Timeout|Survived|NoCoverage)$/.test(status))
    .sort(byPlace);
  const count = (status: Status) => real.filter((mutant) => mutant.status === status).length;
  const [killed, timeout] = [count('Killed'), count('Timeout')];
  const keys = keysOf(source, real);
  const survivors = real
    .map((mutant, at) => ({ mutant, key: keys[at] ?? '' }))
    .filter(({ mutant: { status } }) => status === 'Survived' || status === 'NoCoverage')
    .map(({ mutant, key }) => ({ file, line: mutant.location.start.line, key }));
  const score = real.length === 0 ? 0 : ((killed + timeout) / real.length) * 100;
  return { file, mutants: real.length, killed, timeout, survivors, score };
}

/** Stryker's report has no order to rely on, and a key may have a number. */
const byPlace = ({ location: { start: one } }: Mutant, { location: { start: other } }: Mutant): number =>
  one.line - other.line || one.column - other.column;

/** A key for each mutant: mutator, original → replacement, and a number where several in the file have the same. */
function keysOf(source: string, mutants: readonly Mutant[]): string[] {
  const texts = mutants.map(
    ({ mutatorName, replacement, location }) =>
      `${mutatorName}: ${inOneLine(textAt(source, location))} → ${inOneLine(replacement)}`,
  );
  return texts.map((text, at) => {
    const same = texts.filter((other) => other === text).length;
    if (same === 1) return text;
    const which = texts.slice(0, at + 1).filter((other) => other === text).length;
    return `${text} (${which} of ${same})`;
  });
}

function textAt(source: string, { start, end }: Mutant['location']): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  // From the end first: on one line, cutting the beginning would move the end.
  lines.push((lines.pop() ?? '').slice(0, end.column - 1));
  lines[0] = (lines[0] ?? '').slice(start.column - 1);
  return lines.join('\n');
}

/** Without backticks, between which the document has it. */
function inOneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').replaceAll('`', "'").trim();
  return line.length > LONGEST_TEXT ? `${line.slice(0, LONGEST_TEXT)}…` : line;
}

/** What is wrong, a line each. Explanations count for the files that were run, and for files that are no targets. */
export function faultsOf(
  results: readonly FileResult[],
  explained: Explained,
  targets: readonly string[],
): string[] {
  const faults = results.flatMap(({ file, mutants, score, survivors }) => {
    const known = explained.get(file) ?? [];
    const survived = survivors.map(({ key }) => key);
    return [
      ...(mutants === 0 ? [`${file} has no mutants`] : []),
      ...(score < LEAST_SCORE
        ? [`${file} has a score of ${shownScore(score)}, less than ${LEAST_SCORE}`]
        : []),
      ...survived.filter((key) => !known.includes(key)).map((key) => `${file}: not explained: ${key}`),
      ...known.filter((key) => !survived.includes(key)).map((key) => `${file}: does not survive: ${key}`),
    ];
  });
  const run = results.map(({ file }) => file);
  const strange = [...explained.keys()].filter((file) => !targets.includes(file) && !run.includes(file));
  return [...faults, ...strange.map((file) => `${file} is explained, and is no target`)];
}

/** With one decimal, rounded down: 89.96 is less than 90. */
export const shownScore = (score: number): string => `${(Math.floor(score * 10) / 10).toFixed(1)} %`;
