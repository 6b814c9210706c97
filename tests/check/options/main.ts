/**
 * `pnpm check:options [--write] [option…]`: holds every option to what it owes, over HTTP, with two instances, two
 * principals and a probe, and exits with 1 where a verdict is not the expected one, or where docs/checking-reference.md says otherwise.
 */
import { parseArgs } from 'node:util';
import type { Checked } from '@mrtr/check';
import { updateBlocks } from '@mrtr/matrix/documents';
import { findOption, type ListedOption, OPTIONS } from '@mrtr/options';
import { postgresServer } from '@mrtr/postgres-server';
import { findings } from '../bare.test-support.ts';
import { EXPECTED } from './expected.ts';
import { measured, SUBJECTS, type SubjectName } from './measure.ts';
import { type Measured, measuredBlocks } from './tables.ts';

const USAGE = 'Usage: pnpm check:options [--write] [--postgres URL] [option-g …]';

/** So many runs at once: each has one server that works while the checker waits. */
const AT_ONCE = 3;

const { values, wanted } = readArguments();

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: { write: { type: 'boolean', default: false }, postgres: { type: 'string' } },
      allowPositionals: true,
    });
    return { values, wanted: positionals.length === 0 ? OPTIONS : positionals.map(requireOption) };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}\n`);
    process.exit(2);
  }
}

function requireOption(name: string): ListedOption {
  const option = findOption(name);
  if (!option) throw new Error(`There is no option '${name}'.`);
  return option;
}

const postgres = await postgresServer(values.postgres ?? process.env.MRTR_TEST_POSTGRES);
try {
  process.exitCode = await checkAll(() => postgres.database());
} finally {
  await postgres.stop();
}

async function checkAll(database: () => Promise<string>): Promise<number> {
  const tools = Object.keys(SUBJECTS) as SubjectName[];
  const runs = wanted.flatMap((option) => tools.map((tool) => ({ option, tool })));
  const results = new Map<string, readonly Checked[]>();
  const wrong: string[] = [];
  await eachOf(runs, async ({ option, tool }) => {
    let checked = await measured(option.id, tool, database);
    let differences = unexpected(option.id, tool, checked);
    if (differences.length > 0) {
      // A busy machine may not start a second instance in time: what differs is measured once more.
      checked = await measured(option.id, tool, database);
      differences = unexpected(option.id, tool, checked);
    }
    results.set(`${option.id} ${tool}`, checked);
    wrong.push(...differences);
    const verdict = differences.length === 0 ? 'as expected' : differences.join('\n  ');
    process.stdout.write(`${option.name}, ${tool}: ${verdict}\n`);
  });
  for (const line of wrong) process.stderr.write(`✗ ${line}\n`);
  if (wrong.length > 0) {
    process.stderr.write(
      'What is expected stands in tests/check/options/expected.ts. If it is right now, write it there.\n',
    );
    return 1;
  }
  if (wanted !== OPTIONS) return 0;
  const all = wanted.map(
    (option): Measured => ({
      option,
      checked: Object.fromEntries(
        tools.map((tool) => [tool, results.get(`${option.id} ${tool}`) ?? []]),
      ) as Measured['checked'],
    }),
  );
  return brought(measuredBlocks(all));
}

async function brought(blocks: Readonly<Record<string, string>>): Promise<number> {
  const stale = await updateBlocks(blocks, { write: values.write, only: Object.keys(blocks) });
  for (const block of stale)
    process.stdout.write(
      values.write
        ? `Rewrote ${block}\n`
        : `✗ Not what was measured: ${block} (--write brings it up to date)\n`,
    );
  return values.write || stale.length === 0 ? 0 : 1;
}

async function eachOf<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const worker = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function unexpected(option: string, tool: SubjectName, checked: readonly Checked[]): readonly string[] {
  const expected = EXPECTED[option]?.[tool] ?? {};
  const found = findings({ checked });
  return [...new Set([...Object.keys(expected), ...Object.keys(found)])]
    .filter((id) => expected[id] !== found[id])
    .map((id) => {
      const seen = checked.find(({ check }) => check.id === id);
      const was = `${seen?.verdict} (${seen?.finding.actual})`;
      return `${option}, ${tool}: ${id} is ${was}, and ${expected[id] ?? 'no finding'} was expected`;
    });
}
