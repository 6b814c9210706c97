import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readExplained } from './document.ts';
import { type FileResult, faultsOf, type Mutant, type MutatedFile, resultOf } from './judge.ts';
import { groupByPackage, TARGETS } from './targets.ts';

const ROOT = new URL('../../', import.meta.url);
const FILE = 'packages/core/src/admission/quota.ts';
const SOURCE = 'if (own > 0) {\n  keep();\n}\nif (own > 0) drop(`x`);\n';

/** A mutant of the text from `start` to `end`, both `[line, column]`. */
const mutant = (
  status: Mutant['status'],
  start: readonly [number, number],
  end: readonly [number, number],
  replacement: string,
): Mutant => ({
  mutatorName: 'Any',
  replacement,
  status,
  location: { start: { line: start[0], column: start[1] }, end: { line: end[0], column: end[1] } },
});

const killed = mutant('Killed', [1, 5], [1, 12], 'true');
const survived = mutant('Survived', [4, 5], [4, 12], 'true');
const mutated = (...mutants: readonly Mutant[]): MutatedFile => ({ source: SOURCE, mutants });
const resultWith = (over: Partial<FileResult> = {}): FileResult => ({
  file: FILE,
  mutants: 10,
  killed: 10,
  timeout: 0,
  survivors: [],
  score: 100,
  ...over,
});

test('files are grouped by their package, with its tests', () => {
  expect(
    groupByPackage(
      [FILE, 'packages/hosting/src/http/http-admission.ts', 'packages/core/src/admission/limits.ts'],
      ROOT,
    ),
  ).toEqual([
    { files: [FILE, 'packages/core/src/admission/limits.ts'], tests: 'packages/core/src/**/*.test.ts' },
    { files: ['packages/hosting/src/http/http-admission.ts'], tests: 'packages/hosting/src/**/*.test.ts' },
  ]);
});

test.each([
  ['packages/core/src/gone.ts', 'does not exist'],
  ['packages/core/src/admission/limits.test.ts', 'is no source file of a package'],
  ['tests/matrix/measure.ts', 'is no source file of a package'],
])('the file %s is refused, since it %s', (file, why) => {
  expect(() => groupByPackage([file], ROOT)).toThrow(`${file} ${why}`);
});

test('timeouts count as noticed, mutants that no test reaches as survivors, and errors as none', () => {
  const all = (
    ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'CompileError', 'RuntimeError', 'Ignored'] as const
  ).map((status) => mutant(status, [2, 3], [2, 9], status));
  const { mutants, killed, timeout, survivors, score } = resultOf(FILE, mutated(...all));
  expect({ mutants, killed, timeout, survivors: survivors.length, score }).toEqual({
    mutants: 4,
    killed: 1,
    timeout: 1,
    survivors: 2,
    score: 50,
  });
});

test('a survivor has a key without a line, and a number where several mutants would have the same', () => {
  const block = mutant('NoCoverage', [1, 14], [3, 2], '{}');
  expect(resultOf(FILE, mutated(survived, block, killed)).survivors).toEqual([
    { file: FILE, line: 1, key: 'Any: { keep(); } → {}' },
    { file: FILE, line: 4, key: 'Any: own > 0 → true (2 of 2)' },
  ]);
});

test.each<[string, Partial<FileResult>, readonly string[], readonly string[]]>([
  ['nothing', {}, [], []],
  [
    'nothing about a survivor that is explained',
    { survivors: [{ file: FILE, line: 1, key: 'k' }] },
    ['k'],
    [],
  ],
  ['a score just below the least', { score: 89.99 }, [], [`${FILE} has a score of 89.9 %, less than 90`]],
  ['a file without mutants', { mutants: 0 }, [], [`${FILE} has no mutants`]],
  [
    'a survivor that is not explained',
    { survivors: [{ file: FILE, line: 1, key: 'k' }] },
    ['other'],
    [`${FILE}: not explained: k`, `${FILE}: does not survive: other`],
  ],
])('a run is judged: %s', (_what, over, keys, faults) => {
  expect(faultsOf([resultWith(over)], new Map([[FILE, keys]]), TARGETS)).toEqual(faults);
});

test('a key is read as it is printed, whatever stands above it', () => {
  const markdown = `# Title\n\n* no file above\n\n### \`${FILE}\`\n\n* \`Any: 'a' → ''\`: the reason\n  goes on.\n`;
  expect(readExplained(markdown)).toEqual(new Map([[FILE, ["Any: 'a' → ''"]]]));
});

test.each(['`k`', 'the reason'])('an item without a key and a reason is no explanation: %s', (item) => {
  expect(readExplained(`### \`${FILE}\`\n\n* ${item}\n`)).toEqual(new Map([[FILE, [item]]]));
});

test('docs/mutation.md can be read, and explains targets alone', () => {
  const markdown = readFileSync(new URL('docs/mutation.md', ROOT), 'utf8');
  expect([...readExplained(markdown).keys()].filter((file) => !TARGETS.includes(file))).toEqual([]);
});
