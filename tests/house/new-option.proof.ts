/** Adding an option takes a folder and a line: a copy of this project gets one, and every runner of options runs it. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectFiles } from '../testkit/project-files.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
let copy = '';

/** Runs a command in the copy, and returns its output. */
async function run(command: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, NO_COLOR: '1' };
  const { stdout } = await promisify(execFile)(command, args, { cwd: copy, env, maxBuffer: 2 ** 26 });
  return stdout;
}

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'mrtr-new-option-'));
  for (const file of projectFiles()) await cp(join(ROOT, file), join(copy, file));
  await run('git', 'init', '--quiet');
  // Git leaves the `node_modules` of an option that is gone.
  await mkdir(join(copy, 'packages/options/k-gone/node_modules'), { recursive: true });
  await run('node', 'packages/options/new-option.mjs', 'k', 'lease');
  await run('pnpm', 'install', '--prefer-offline', '--no-frozen-lockfile');
}, 120_000);

afterAll(() => rm(copy, { recursive: true, force: true }));

test('a folder of several options is no model for another', async () => {
  await expect(run('node', 'packages/options/new-option.mjs', 'l', 'loan', 'e')).rejects.toThrow(
    'several options',
  );
});

test('the command line lists the option and runs it, under its letter and its word', async () => {
  expect(await run('node', 'demos/cli/run.mjs', '--help')).toMatch(/^ +option-k\|k \[options\] +lease$/m);
  expect(await run('node', 'demos/cli/run.mjs', 'lease')).toContain('2 rounds');
}, 60_000);

test('the tests run it: matrix, abandonment, key rotation, traces, fuzz and deploys', async () => {
  const listed = await run('node', 'node_modules/vitest/vitest.mjs', 'list', '--project', 'tests');
  const files = listed.split('\n').filter((line) => /\boption '?k\b/.test(line));
  for (const file of [
    'matrix/matrix',
    'abandonment/abandonment',
    'operations/key-rotation',
    'operations/tracing',
    'fuzz/servers',
    'deploy/deploy',
  ])
    expect(
      files.some((line) => line.includes(`tests/${file}.test.ts`)),
      file,
    ).toBe(true);
}, 120_000);

test('the tables of the documents have a row for it, which the matrix measures', async () => {
  const tables = await run('node', 'demos/cli/run.mjs', 'matrix');
  const rowOf = (title: string) => tables.split('\n').find((row) => row.startsWith(`| **${title}`)) ?? '';
  const measured = (title: string) => rowOf(title).split('|').slice(2).join('|');
  expect(measured('K** lease')).toBe(measured('F** once'));
  expect(measured('K** lease')).toContain('2× / 3×');
}, 180_000);

test('the tables of deploys have a column for it', async () => {
  const shown = await run(
    'node',
    '--import',
    'tsx',
    '-e',
    `Promise.all([import('./packages/options/list/src/index.ts'), import('./packages/matrix/src/deploy/index.ts')]).then(async ([options, { deployTables }]) =>
      console.log(JSON.stringify(deployTables(await options.loadOptions()))))`,
  );
  const heads = Object.values(JSON.parse(shown) as Record<string, string[][]>).map(([head]) => head ?? []);
  for (const head of heads) expect(head.join(', ').split(', ')).toContain('K');
}, 60_000);

test('the benchmarks measure it', async () => {
  const shown = await run(
    'node',
    '--import',
    'tsx',
    '-e',
    "import('./tests/bench/subjects.ts').then(({ SHAPES }) => console.log(SHAPES.join()))",
  );
  expect(shown.trim().split(',')).toContain('k');
}, 60_000);
