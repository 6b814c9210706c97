/**
 * `pnpm mutate [file…]`: changes the given files, or those of `targets.ts`, in many small ways with StrykerJS, which is
 * installed in `tools/`. For each file it prints the changes that no test notices, and a table. Exit code 1 if fewer than
 * 90 % of the changes of a file were noticed.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { installFolder } from '../testkit/own-lockfile.ts';
import { projectFiles } from '../testkit/project-files.ts';
import { TARGETS, testsOf } from './targets.ts';

const LEAST_SCORE = 90;
const USAGE = `Usage: pnpm mutate [file…]

  file  a source file of a package; by default the targets of tests/mutation/targets.ts
`;

const ROOT = new URL('../../', import.meta.url);
const tools = createRequire(new URL('tools/package.json', import.meta.url));
const inPackage = (name: string, path: string) => join(dirname(tools.resolve(`${name}/package.json`)), path);

try {
  process.exitCode = run();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function run(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean' } },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const files = (positionals.length > 0 ? positionals : TARGETS).map(
    (file) => [file, testsOf(file, ROOT)] as const,
  );
  installFolder(new URL('tools', import.meta.url));
  const copy = copyRepository();
  const failed = files.filter(([file, tests]) => !mutate(copy, file, tests));
  for (const [file] of failed) console.log(`Not in order, as its table above says: ${file}`);
  return failed.length === 0 ? 0 : 1;
}

/** A copy of the repository, in which mutants may be written without touching the files that somebody works on. */
function copyRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mrtr-mutation-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  for (const file of projectFiles()) cpSync(join(fileURLToPath(ROOT), file), join(folder, file));
  installFolder(pathToFileURL(`${folder}/`));
  return folder;
}

/** Makes the mutants of one file, and runs `tests` for each. Returns whether enough of them were noticed. */
function mutate(folder: string, file: string, tests: string): boolean {
  const config = join(folder, 'stryker.json');
  writeFileSync(config, JSON.stringify(configOf(file)));
  const env = { ...process.env, MRTR_MUTATED: file, MRTR_MUTATION_TESTS: tests };
  const program = inPackage('@stryker-mutator/core', 'bin/stryker.js');
  const args = [program, 'run', config];
  return spawnSync(process.execPath, args, { cwd: folder, env, stdio: 'inherit' }).status === 0;
}

function configOf(file: string): object {
  return {
    testRunner: 'vitest',
    plugins: [inPackage('@stryker-mutator/vitest-runner', 'dist/src/index.js')],
    mutate: [file],
    // The folder is a copy already. A copy of Stryker's would resolve our packages to the files without mutants.
    inPlace: true,
    coverageAnalysis: 'perTest',
    vitest: { configFile: 'tests/mutation/vitest.config.ts', related: false },
    reporters: ['progress-append-only', 'clear-text'],
    clearTextReporter: { logTests: false, reportTests: false },
    thresholds: { high: 100, low: LEAST_SCORE, break: LEAST_SCORE },
    allowConsoleColors: false,
    // A bound on waiting, and no measure of time: a timeout counts as noticed, so a machine that is busy must not cause
    // one. Most endless loops end earlier, since Stryker counts how often a mutant is reached.
    timeoutMS: 60_000,
  };
}
