/** A new option takes a folder and a line: a copy of this project gets one, and every runner of options runs it. */
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
  // Git leaves the `node_modules` of a removed option.
  await mkdir(join(copy, 'packages/options/k-gone/node_modules'), { recursive: true });
  await run('node', 'packages/options/new-option.mjs', 'k', 'lease');
  await run('pnpm', 'install', '--prefer-offline', '--no-frozen-lockfile');
});

afterAll(() => rm(copy, { recursive: true, force: true }));

test('a folder of several options is no model for another', async () => {
  await expect(run('node', 'packages/options/new-option.mjs', 'l', 'loan', 'e')).rejects.toThrow(
    'several options',
  );
});

test('the command line lists the option and runs it, under its letter and its word', async () => {
  expect(await run('node', 'tools/cli/run.mjs', '--help')).toMatch(/^ +option-k\|k \[options\] +lease$/m);
  expect(await run('node', 'tools/cli/run.mjs', 'lease')).toContain('2 rounds');
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
  const ofOption = listed.split('\n').filter((line) => /\boption '?k\b/.test(line));
  const missing = OF_OPTIONS.filter((file) => !ofOption.some((line) => line.includes(file)));
  expect(missing).toEqual([]);
});

/** Prints the option's row and column in the tables, measured beside its model, and the figures of the benchmark. */
const PROGRAM = `
  const { findOption, loadOption, loadOptions } = await import('./demos/comparison/index.ts');
  const { measure, optionsTable, TABLED } = await import('./tools/matrix/src/index.ts');
  const { deployTables } = await import('./tools/matrix/src/deploy/index.ts');
  const { SHAPES } = await import('./tests/bench/subjects.ts');
  const options = await Promise.all(['f', 'k'].map((id) => loadOption(findOption(id))));
  const cells = [];
  for (const option of options) cells.push(...(await measure(option, TABLED)));
  const deploys = Object.values(deployTables(await loadOptions())).map(([head]) => head.join(', ').split(', '));
  console.log(JSON.stringify({ rows: optionsTable(options, cells).slice(1), deploys, benched: SHAPES }));`;

test('the tables have a row and a column for it, which are measured, and the benchmarks measure it', async () => {
  const printed = await run('node', '--import', 'tsx', '--input-type=module', '--eval', PROGRAM);
  const { rows, deploys, benched } = JSON.parse(printed);
  const [[once, ...ofOnce], [lease, ...ofLease]] = rows;
  expect([once, lease]).toEqual(['**F** once', '**K** lease']);
  expect(ofLease).toEqual(ofOnce);
  expect(ofLease).toContain('2× / 3×');
  for (const columns of deploys) expect(columns).toContain('K');
  expect(benched).toContain('k');
});
