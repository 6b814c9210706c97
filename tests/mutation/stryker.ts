/** Runs StrykerJS, which is installed in `tools/`, in a copy of the repository, and reads its report. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { MutatedFile } from './judge.ts';
import type { Group } from './targets.ts';

const tools = createRequire(new URL('tools/package.json', import.meta.url));
const inPackage = (name: string, path: string) => join(dirname(tools.resolve(`${name}/package.json`)), path);

/** The part of Stryker's JSON report that is used. */
interface Report {
  readonly files: Readonly<Record<string, MutatedFile>>;
}

/**
 * Makes the mutants of one group of files, and runs the tests for each.
 *
 * @throws Error when Stryker could not finish; what it wrote says why.
 */
export async function runStryker(
  folder: string,
  { files, tests }: Group,
): Promise<Readonly<Record<string, MutatedFile>>> {
  const [config, report] = [join(folder, 'stryker.json'), join(folder, 'mutation.json')];
  writeFileSync(config, JSON.stringify(configOf(files, report)));
  const env = {
    ...process.env,
    MRTR_MUTATED: JSON.stringify(files),
    MRTR_MUTATION_TESTS: tests,
  };
  const program = inPackage('@stryker-mutator/core', 'bin/stryker.js');
  // Its progress goes to standard error: standard output has the table alone.
  const running = spawn(process.execPath, [program, 'run', config], {
    cwd: folder,
    env,
    stdio: ['ignore', 2, 2],
  });
  const [code] = (await once(running, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`Stryker did not finish (${code}). Its output above says why.`);
  const { files: mutated } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  return mutated;
}

const configOf = (mutate: readonly string[], fileName: string) => ({
  testRunner: 'vitest',
  plugins: [inPackage('@stryker-mutator/vitest-runner', 'dist/src/index.js')],
  mutate,
  // The folder is a copy already. A copy of Stryker's would resolve our packages to the files without mutants.
  inPlace: true,
  coverageAnalysis: 'perTest',
  vitest: { configFile: 'tests/mutation/vitest.config.ts', related: false },
  reporters: ['progress-append-only', 'json'],
  jsonReporter: { fileName },
  allowConsoleColors: false,
  // A bound on waiting, and no measure of time: a timeout counts as noticed, so a machine that is busy must not cause
  // one. Most endless loops end earlier, since Stryker counts how often a mutant is reached.
  timeoutMS: 60_000,
});
