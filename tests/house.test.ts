import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { projectFiles, textOf } from './testkit/project-files.ts';
import { commentLinesOf, linesOf } from './testkit/source-text.ts';

const files = projectFiles();
const packages = files.filter((file) =>
  /^(?:packages|packages\/options|demos)\/[^/]+\/package\.json$/.test(file),
);
const isLibrary = (file: string) =>
  /^packages\/(?:core|shapes|harness)\/src\/.*(?<!\.test|\.test-support)\.ts$/.test(file);

interface Budget {
  readonly what: string;
  readonly measured: number;
  readonly min?: number;
  readonly max: number;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const lengths = (of: readonly string[]) => of.map((file) => linesOf(textOf(file)));

/** The value that `share` of the sorted numbers do not exceed. */
const quantile = (sorted: readonly number[], share: number) =>
  sorted[Math.ceil(share * sorted.length) - 1] ?? 0;

function budgets(): Budget[] {
  const options = packages
    .map((manifest) => dirname(manifest))
    .filter((folder) => /\/options\/[a-z]-[^/]+$/.test(folder));
  const library = files.filter(isLibrary);
  const sorted = lengths(library).sort((a, b) => a - b);
  const comments = sum(library.map((file) => commentLinesOf(textOf(file))));
  return [
    ...options.map((folder) => ({
      what: `${folder}/src, lines`,
      measured: sum(lengths(files.filter((f) => f.startsWith(`${folder}/src/`) && !f.endsWith('.test.ts')))),
      max: 220,
    })),
    ...files
      .filter((file) => /\/options\/[a-z]-[^/]+\/src\/weather\.ts$/.test(file))
      .map((file) => ({ what: `${file}, lines`, measured: linesOf(textOf(file)), max: 80 })),
    { what: 'library files, median of lines', measured: quantile(sorted, 0.5), max: 130 },
    { what: 'library files, 90th percentile of lines', measured: quantile(sorted, 0.9), max: 350 },
    { what: 'library files, lines of the longest', measured: sorted.at(-1) ?? 0, max: 500 },
    {
      what: 'library files, comments in % of lines',
      measured: Math.round((100 * comments) / sum(sorted)),
      min: 10,
      max: 25,
    },
    ...files
      .filter((file) => file === 'README.md')
      .map((file) => ({ what: `${file}, lines`, measured: linesOf(textOf(file)), max: 160 })),
  ];
}

test('every part of the house keeps to its budget', () => {
  const all = budgets();
  const keeps = ({ measured, min = 0, max }: Budget) => measured >= min && measured <= max;
  const table = all.map((budget) => {
    const { what, measured, min, max } = budget;
    const range = min === undefined ? `at most ${max}` : `${min} to ${max}`;
    return `${keeps(budget) ? '  ' : '✗ '}${what.padEnd(44)}${String(measured).padStart(5)}   ${range}`;
  });
  expect(all.filter((budget) => !keeps(budget)).length, `\n${table.join('\n')}\nbudgets broken`).toBe(0);
});

/** Every line of the project that `pattern` matches, as `file:line match`. */
function findings(pattern: RegExp): string[] {
  return files.flatMap((file) =>
    textOf(file)
      .split('\n')
      .flatMap((line, at) => {
        const match = pattern.exec(line);
        return match ? [`${file}:${at + 1} ${match[0]}`] : [];
      }),
  );
}

test('no file names a package registry', () => {
  expect(
    findings(/\b(?:registry|npm|npmjs|packages?|mirrors?)\.[\w.-]*\b(?:com|org|net|io|dev|cloud)\b/i),
  ).toEqual([]);
});

test('no file names a path of the machine it was written on', () => {
  expect(findings(/\/(?:(?:work|root)\/|farm)/)).toEqual([]);
});

test('no file is named after nothing in particular', () => {
  const vague = /(?:^|\/)(?:utils?|helpers?|common|misc)(?:\.[^/]*)?(?:\/|$)/;
  expect(files.filter((file) => vague.test(file))).toEqual([]);
});

test('every name is kebab-case, but for the documents that are customarily in capitals', () => {
  const kebab = /^\.?[a-z0-9]+(?:[-.][a-z0-9]+)*$/;
  const document = /^[A-Z]+(?:\.md)?$/;
  const offenders = files.filter(
    (file) => !file.split('/').every((name) => kebab.test(name) || document.test(name)),
  );
  expect(offenders).toEqual([]);
});
