/** `pnpm matrix`: measures the options, prints the tables, and updates the documents' generated blocks. */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { keepOpen, loadOptions } from '@mrtr/comparison/options';
import { requestStatePolicy } from '@mrtr/core';
import { jsonText, Writer } from '@mrtr/harness/internal';
import { DatabaseError, databaseOf, InvalidDatabase, withDatabase } from '@mrtr/postgres-server/database';
import { updateBlocks } from './documents/blocks.ts';
import { type Cell, measure, SCENARIOS } from './measure/measure.ts';
import { measureUnattended } from './measure/unattended.ts';
import { measureUndrawn } from './measure/undrawn.ts';
import { measuredTables, TABLED } from './tables.ts';

const HELP = `Usage: pnpm matrix [options]

Measures every option and prints the tables of docs/matrix.md.

Options:
  --json            every measurement of the whole matrix, as JSON
  --write           rewrite the generated blocks of the documents
  --postgres <url>  the PostgreSQL to measure H on; otherwise MRTR_POSTGRES, or
                    one that is started
  -h, --help        print this
`;

const stdout = new Writer(process.stdout);
const stderr = new Writer(process.stderr);
const print = (text: string) => stdout.write(`${text}\n`);

function readOptions() {
  const { values } = parseArgs({
    // pnpm passes on a literal `--`.
    args: process.argv.slice(2).filter((arg) => arg !== '--'),
    options: {
      json: { type: 'boolean' },
      write: { type: 'boolean' },
      postgres: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.json && values.write)
    throw new TypeError("Option '--json' cannot be used with option '--write'.");
  return { ...values, database: databaseOf(values.postgres, process.env) };
}

/** Replaces a line of the terminal, which only a person there sees. */
const show = (text: string) => stderr.isTTY && stderr.writePainted(`\r\u001b[2K${text}`);

async function run({ json, write }: ReturnType<typeof readOptions>, postgres: string) {
  const options = await loadOptions(undefined, postgres);
  // `--json` and the proof of the matrix measure the rest.
  const scenarios = json ? SCENARIOS : TABLED;
  const cells: Cell[] = [];
  for (const [at, option] of options.entries()) {
    show(`Measuring ${option.title} (${at + 1} of ${options.length}) …`);
    cells.push(...(await measure(option, scenarios)));
  }
  show('');
  if (json) {
    const measurements = cells.map(({ call }) => call.measurement);
    return print(jsonText(measurements));
  }
  const { GUARDED } = await import('@mrtr/demo-approve');
  const unattended = [
    ...(await measureUnattended(options, 'Resolved')),
    ...(await measureUnattended(GUARDED, 'Active')),
  ];
  const undrawn = await measureUndrawn(options);
  const tables = measuredTables(options, cells, unattended, undrawn);
  if (!write) return print(Object.values(tables).join('\n\n'));
  for (const block of await updateBlocks(tables, { write })) print(`Rewrote ${block}`);
}

async function main() {
  const options = readOptions();
  if (options.help) return print(HELP.trimEnd());
  return withDatabase(options.database, async (postgres) => {
    // This keeps connections open; it stores no calls.
    const policy = requestStatePolicy({ keys: [randomBytes(32)], singleUse: false });
    const close = await keepOpen({ policy, postgres });
    await run(options, postgres).finally(close);
  });
}

await main().catch((error: Error) => {
  const isUsage = error instanceof TypeError || error instanceof InvalidDatabase;
  if (!isUsage && !(error instanceof DatabaseError)) throw error;
  stderr.write(`${error.message}\n${isUsage ? 'More: pnpm matrix --help\n' : ''}`);
  process.exitCode = isUsage ? 2 : 1;
});
