/** `pnpm matrix`: measures the options, prints the tables, and updates the documents' generated blocks. */
import { randomBytes } from 'node:crypto';
import { requestStatePolicy } from '@mrtr/core';
import {
  type Cell,
  type Measured,
  measure,
  measuredTables,
  measureOldServer,
  measureUnattended,
  SCENARIOS,
  TABLED,
} from '@mrtr/matrix';
import { updateBlocks } from '@mrtr/matrix/documents';
import { addressOf, findOption, type ListedOption, loadOption, OPTIONS } from '@mrtr/options';
import { Option, type OptionValues } from 'commander';
import { loadOnPostgres } from './catalog.ts';
import { command, parseArgs, UsageError } from './command-line.ts';
import { databaseOf, withDatabase } from './database.ts';
import type { Terminal } from './terminal.ts';

const program = () =>
  command('matrix [options]', 'Measures every option and prints the tables of docs/matrix.md.')
    .addOption(
      new Option('--json', 'every observation of the whole matrix, as JSON').conflicts(['write', 'check']),
    )
    .option('--processes', 'with --json: also in separate processes, and through kills; a minute more')
    .addOption(
      new Option('--write', 'rewrite the generated blocks of README.md and docs/').conflicts('check'),
    )
    .option('--check', 'exit with 1 when a generated block is not what is measured')
    .option(
      '--postgres <url>',
      'the PostgreSQL to measure H on; otherwise MRTR_POSTGRES, or one that is started',
    )
    .allowExcessArguments(false);

export async function matrix(args: readonly string[], terminal: Terminal): Promise<number> {
  const line = program();
  if (!parseArgs(line, args, terminal)) return 0;
  const flags = line.opts();
  if (flags.processes && !flags.json) throw new UsageError('--processes goes with --json.');
  return withDatabase(databaseOf(flags.postgres, terminal.env), async (postgres) => {
    const { keptOpen } = await import('@mrtr/option-h-postgres');
    // This keeps connections open; it stores no calls.
    const state = requestStatePolicy({ keys: [randomBytes(32)], singleUse: false });
    const close = await keptOpen({ state, postgres });
    try {
      return await run(flags, postgres, terminal);
    } finally {
      await close();
    }
  });
}

async function run(
  { json, processes, write = false, check }: OptionValues,
  postgres: string,
  terminal: Terminal,
): Promise<number> {
  const print = (text: string) => void terminal.stdout.write(text);
  /** Replaces a line of the terminal, which only a person there sees. */
  const show = (text: string) => terminal.stderr.isTTY && terminal.stderr.write(`\r\u001b[K${text}`);
  const options = await Promise.all(
    OPTIONS.map((option) => (option.needsPostgres ? loadOnPostgres(postgres) : loadOption(option))),
  );
  // The tables need only three scripts. `--json` and the tests measure the rest.
  const scenarios = json ? SCENARIOS : SCENARIOS.filter(({ script }) => TABLED.includes(script.name));
  const cells: Cell[] = [];
  for (const [at, option] of options.entries()) {
    show(`Measuring ${option.title} (${at + 1} of ${options.length}) …`);
    cells.push(...(await measure(option, scenarios)));
  }
  show('Measuring the old server …');
  const { oldServer } = await import('@mrtr/matrix/old-server');
  const oldCells = await measureOldServer(oldServer);
  if (processes) show('Measuring in separate processes, and through kills …');
  const processCells = processes ? await measureInProcesses(options, postgres) : [];
  const observations = [...cells, ...oldCells, ...processCells].map(({ observed }) => observed.observation);
  show('');
  if (json) {
    print(`${JSON.stringify(observations, null, 2)}\n`);
    return 0;
  }

  const { GUARDED } = await import('@mrtr/demo-approve');
  const unattended = [
    ...(await measureUnattended(options, 'Resolved')),
    ...(await measureUnattended(GUARDED, 'Active')),
  ];
  const tables = measuredTables(options, cells, oldCells, unattended);
  if (!write && !check) {
    print(`${Object.values(tables).join('\n\n')}\n`);
    return 0;
  }
  const stale = await updateBlocks(tables, { write });
  const verb = write ? 'Rewrote' : 'Not what is measured:';
  for (const block of stale) print(`${verb} ${block}\n`);
  return check && stale.length > 0 ? 1 : 0;
}

async function measureInProcesses(options: readonly Measured[], postgres: string): Promise<readonly Cell[]> {
  const { measureProcesses, Processes } = await import('@mrtr/matrix/processes');
  const processes = await Processes.start(({ id }) => moduleOf(findOption(id) as ListedOption, postgres));
  try {
    return (await measureProcesses(options, processes)).cells;
  } finally {
    await processes.close();
  }
}

const moduleOf = (option: ListedOption, postgres: string) => ({
  module: addressOf(option),
  ...(option.needsPostgres && { postgres }),
});
