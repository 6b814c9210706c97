/**
 * `pnpm check:options [option…]`: checks every option over HTTP, with two instances, two principals and a probe. Exits
 * with 1 if a verdict is not the expected one.
 */
import type { ReportedCheck } from '@mrtr/check';
import { findOption, type ListedOption, OPTIONS } from '@mrtr/comparison/options';
import { postgresServer } from '@mrtr/postgres-server';
import { findings } from '../bare.test-support.ts';
import { EXPECTED, type SubjectName, TOOLS } from './expected.ts';
import { measured } from './measure.ts';

/** The number of concurrent runs. In each, either the server or the checker works, and often both wait for a process. */
const AT_ONCE = 5;

const named = process.argv.slice(2);
const runs = (named.length === 0 ? OPTIONS : named.map(requireOption)).flatMap((option) =>
  TOOLS.map((tool) => ({ option, tool })),
);

function requireOption(name: string): ListedOption {
  const option = findOption(name);
  if (option) return option;
  process.stderr.write(`There is no option '${name}'.\nUsage: pnpm check:options [option-g …]\n`);
  process.exit(2);
}

const postgres = await postgresServer(process.env.MRTR_TEST_POSTGRES);
try {
  await Promise.all(Array.from({ length: AT_ONCE }, work));
} finally {
  await postgres.stop();
}
if (process.exitCode === 1)
  process.stdout.write('If that is right, write it into tests/check/options/expected.ts.\n');

async function work(): Promise<void> {
  for (let run = runs.shift(); run !== undefined; run = runs.shift()) {
    const { option, tool } = run;
    const measure = async () =>
      unexpected(option.id, tool, await measured(option.id, tool, () => postgres.database()));
    let differences = await measure();
    // Measure differences again: a busy machine may not start a second instance in time.
    if (differences.length > 0) differences = await measure();
    if (differences.length > 0) process.exitCode = 1;
    const verdict = differences.length === 0 ? 'as expected' : `✗ ${differences.join('\n  ')}`;
    process.stdout.write(`${option.name}, ${tool}: ${verdict}\n`);
  }
}

function unexpected(option: string, tool: SubjectName, checks: readonly ReportedCheck[]): readonly string[] {
  const expected = EXPECTED[option]?.[tool] ?? {};
  const found = findings({ checks });
  return [...new Set([...Object.keys(expected), ...Object.keys(found)])]
    .filter((id) => expected[id] !== found[id])
    .map((id) => {
      const seen = checks.find((one) => one.id === id);
      const was = `${seen?.verdict} (${seen?.actual})`;
      return `${id} is ${was}, and ${expected[id] ?? 'no finding'} was expected`;
    });
}
