/** A new option takes a folder and a writer: a copy of this project gets one, and every runner of options runs it. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { OPTIONS } from '@mrtr/comparison/options';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectFiles } from '../testkit/project-files.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Letters that no option has: one for the option that is made, one to ask for. */
const [LETTER = '', OTHER = ''] = [...'klmnopqrstuvwxyz'].filter(
  (letter) => !OPTIONS.some(({ id }) => id.startsWith(letter)),
);
const FOLDER = `option-${LETTER}-new-shape`;
let copy = '';

/** Runs a command in the copy, and returns its output. */
async function run(command: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, NO_COLOR: '1' };
  const { stdout } = await promisify(execFile)(command, args, { cwd: copy, env, maxBuffer: 2 ** 26 });
  return stdout;
}

const newOption = (...args: string[]) => run('node', 'tools/new-option.mjs', ...args);

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'mrtr-new-option-'));
  for (const file of projectFiles()) await cp(join(ROOT, file), join(copy, file));
  await run('git', 'init', '--quiet');
  // Git leaves the `node_modules` of a removed option.
  await mkdir(join(copy, `demos/option-${LETTER}-gone/node_modules`), { recursive: true });
  await run('git', 'add', '.');
  await newOption(LETTER, 'new-shape');
  await run('pnpm', 'install', '--prefer-offline', '--no-frozen-lockfile');
});

afterAll(() => rm(copy, { recursive: true, force: true }));

test('takes a folder and a writer, and changes no file', async () => {
  const changed = await run('git', 'status', '--porcelain', '--untracked-files=all', 'demos', 'tools');
  const made = changed.split('\n').flatMap((line) => (line.startsWith('?? ') ? [line.slice(3)] : []));
  const files = ['README.md', 'claims.ts', 'package.json', 'server.ts', 'weather.ts', 'work-item.ts'];
  expect(made).toEqual([
    ...files.map((file) => `demos/${FOLDER}/${file}`),
    `tools/matrix/src/outlines/writers/${LETTER}.ts`,
  ]);
  expect(changed).not.toMatch(/^.M/m);
  const manifest = JSON.parse(await readFile(join(copy, `demos/${FOLDER}/package.json`), 'utf8'));
  expect(manifest).toMatchObject({ name: `@mrtr/option-${LETTER}`, description: 'new shape' });
});

test.each([
  ['a letter that is taken', ['g', 'saga'], 'The folder option-g-tool-builder has that letter or word.'],
  [
    'a word that is taken',
    [OTHER, 'tool-builder'],
    'The folder option-g-tool-builder has that letter or word.',
  ],
  ['a letter of two', ['kk', 'saga'], 'LETTER is one lower-case letter'],
  ['a word in capitals', [OTHER, 'Saga'], 'WORD is in lower case'],
  ['an unknown model', [OTHER, 'saga', '1'], "There is no option '1' to copy."],
  ['an argument too many', [OTHER, 'saga', 'f', 'g'], 'There is nothing to do with g.'],
])('%s is rejected', async (_what, args, message) => {
  await expect(newOption(...args)).rejects.toThrow(message);
});

test('the command line lists the option and runs it, under its letter and its word', async () => {
  expect(await run('node', 'tools/cli/run.mjs', '--help')).toMatch(
    new RegExp(`^ +option-${LETTER}\\|${LETTER} \\[options\\] +new shape$`, 'm'),
  );
  expect(await run('node', 'tools/cli/run.mjs', 'new-shape')).toContain('2 rounds');
});

/** Tests and proofs, by the beginning of their files. */
const OF_OPTIONS = [
  'matrix/matrix.',
  'operations/key-rotation.',
  'operations/tracing.',
  'deploy/deploy.proof.',
  'processes/processes.',
].map((name) => `tests/${name}`);

test('the tests run it: matrix, key rotation, traces, deploys and kills', async () => {
  const projects = ['--project', 'tests', '--project', 'proof'];
  const listed = await run('node', 'node_modules/vitest/vitest.mjs', 'list', ...projects, ...OF_OPTIONS);
  const ofOption = listed.split('\n').filter((line) => new RegExp(`\\boption '?${LETTER}\\b`).test(line));
  const missing = OF_OPTIONS.filter((file) => !ofOption.some((line) => line.includes(file)));
  expect(missing).toEqual([]);
});

/** Prints the option's row and column in the tables, measured beside its model, and the figures of the benchmark. */
const PROGRAM = `
  const { loadOption, loadOptions } = await import('./demos/comparison/options.ts');
  const { measure, optionsTable, TABLED } = await import('./tools/matrix/src/index.ts');
  const { deployTables } = await import('./tools/matrix/src/deploy/index.ts');
  const { SHAPES } = await import('./tests/bench/subjects.ts');
  const options = await Promise.all(['f', '${LETTER}'].map(loadOption));
  const cells = [];
  for (const option of options) cells.push(...(await measure(option, TABLED)));
  const deploys = Object.values(deployTables(await loadOptions())).map(([head]) => head.join(', ').split(', '));
  console.log(JSON.stringify({ rows: optionsTable(options, cells).slice(1), deploys, benched: SHAPES }));`;

test('the tables have a row and a column for it, which are measured, and the benchmarks measure it', async () => {
  const printed = await run('node', '--import', 'tsx', '--input-type=module', '--eval', PROGRAM);
  const { rows, deploys, benched } = JSON.parse(printed);
  const [[once, ...ofOnce], [made, ...ofMade]] = rows;
  expect([once, made]).toEqual(['**F** once', `**${LETTER.toUpperCase()}** new shape`]);
  expect(ofMade).toEqual(ofOnce);
  expect(ofMade).toContain('2× / 3×');
  for (const columns of deploys) expect(columns).toContain(LETTER.toUpperCase());
  expect(benched).toContain(LETTER);
});
