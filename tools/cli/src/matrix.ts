/** `pnpm matrix`: measures the options, prints the tables, and updates the documents' generated blocks. */
import { randomBytes } from 'node:crypto';
import { keepOpen, loadOption, OPTIONS } from '@mrtr/comparison/options';
import { requestStatePolicy } from '@mrtr/core';
import { jsonText } from '@mrtr/harness/transcript';
import { type Cell, measure, measuredTables, measureUnattended, SCENARIOS, TABLED } from '@mrtr/matrix';
import { updateBlocks } from '@mrtr/matrix/documents';
import { Option, type OptionValues } from 'commander';
import { loadOnPostgres } from './catalog.ts';
import { command, parseArgs } from './command-line.ts';
import { databaseOf, withDatabase } from './database.ts';
import type { Terminal } from './terminal.ts';

const program = (terminal: Terminal) =>
  command('matrix', '[options]', 'Measures every option and prints the tables of docs/matrix.md.', terminal)
    .addOption(new Option('--json', 'every observation of the whole matrix, as JSON').conflicts('write'))
    .option('--write', 'rewrite the generated blocks of the documents')
    .option(
      '--postgres <url>',
      'the PostgreSQL to measure H on; otherwise MRTR_POSTGRES, or one that is started',
    );

export async function matrix(args: readonly string[], terminal: Terminal): Promise<number> {
  const line = program(terminal);
  if (!parseArgs(line, args)) return 0;
  const flags = line.opts();
  return withDatabase(databaseOf(flags.postgres, terminal.env), async (postgres) => {
    // This keeps connections open; it stores no calls.
    const policy = requestStatePolicy({ keys: [randomBytes(32)], singleUse: false });
    const close = await keepOpen({ policy, postgres });
    try {
      return await run(flags, postgres, terminal);
    } finally {
      await close();
    }
  });
}

async function run({ json, write }: OptionValues, postgres: string, terminal: Terminal): Promise<number> {
  const print = (text: string) => void terminal.stdout.write(text);
  /** Replaces a line of the terminal, which only a person there sees. */
  const show = (text: string) => terminal.stderr.isTTY && terminal.stderr.writePainted(`\r\u001b[2K${text}`);
  const options = await Promise.all(
    OPTIONS.map((option) => (option.needsPostgres ? loadOnPostgres(postgres) : loadOption(option))),
  );
  // `--json` and the proof of the matrix measure the rest.
  const scenarios = json ? SCENARIOS : TABLED;
  const cells: Cell[] = [];
  for (const [at, option] of options.entries()) {
    show(`Measuring ${option.title} (${at + 1} of ${options.length}) …`);
    cells.push(...(await measure(option, scenarios)));
  }
  show('');
  if (json) {
    const observations = cells.map(({ observed }) => observed.observation);
    print(`${jsonText(observations)}\n`);
    return 0;
  }

  const { GUARDED } = await import('@mrtr/demo-approve');
  const unattended = [
    ...(await measureUnattended(options, 'Resolved')),
    ...(await measureUnattended(GUARDED, 'Active')),
  ];
  const tables = measuredTables(options, cells, unattended);
  if (!write) {
    print(`${Object.values(tables).join('\n\n')}\n`);
    return 0;
  }
  for (const block of await updateBlocks(tables, { write })) print(`Rewrote ${block}\n`);
  return 0;
}
