/** `pnpm matrix`: measures the options, prints the tables, and keeps the documents' generated blocks true. */
import { parseArgs } from 'node:util';
import {
  type Cell,
  measure,
  measureOldServer,
  oldServerTable,
  optionsTable,
  quadrantTable,
  SCENARIOS,
} from '@mrtr/tests/matrix';
import type { Option } from '@mrtr/tools';
import { loadOption, loadOptions, moduleOf } from './catalog.ts';
import { databaseOf, withDatabase } from './database.ts';
import { updateBlocks } from './generated-blocks.ts';
import { whatIsWrong } from './usage-error.ts';

const HELP = `Usage: pnpm matrix [--json [--processes] | --write | --check]
                   [--postgres URL]

Measures every option and prints the tables of the README.

  --json          every observation of the whole matrix, as JSON
  --processes     with --json: also in processes of their own, over stdio and
                  HTTP and as a fleet, and through kills; a minute more
  --write         rewrite the generated blocks of README.md and docs/
  --check         exit with 1 when a generated block is not what is measured
  --postgres URL  the PostgreSQL that H is measured on beside its memory;
                  otherwise what MRTR_POSTGRES names, or one that is started
`;

/** Runs the command; resolves with its exit code. */
export async function matrix(args: readonly string[]): Promise<number> {
  const flags = read(args);
  if (typeof flags === 'string') {
    process.stderr.write(`${flags}\n\n${HELP}`);
    return 2;
  }
  if (flags.help) return print(HELP);
  return withDatabase(databaseOf(flags.postgres, process.env), async () => {
    const { keptOpen } = await import('@mrtr/option-h-postgres');
    const close = await keptOpen();
    try {
      return await run(flags);
    } finally {
      await close();
    }
  });
}

type Flags = Exclude<ReturnType<typeof read>, string>;

/** The flags, or what is wrong with them. */
function read(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: args.filter((arg) => arg !== '--'),
      options: {
        json: { type: 'boolean' },
        processes: { type: 'boolean' },
        write: { type: 'boolean' },
        check: { type: 'boolean' },
        postgres: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    const chosen = (['json', 'write', 'check'] as const).filter((flag) => values[flag]);
    if (chosen.length > 1) return `--${chosen[0]} and --${chosen[1]} do not go together.`;
    if (values.processes && !values.json) return '--processes goes with --json.';
    return values;
  } catch (error) {
    return whatIsWrong(error);
  }
}

async function run({
  json = false,
  processes = false,
  write = false,
  check = false,
}: Flags): Promise<number> {
  const { naive } = await import('@mrtr/option-e');
  const lettered = await loadOptions();
  const onPostgres = await loadOption('option-h', 'postgres');
  const options = lettered.flatMap((option) => [option, ...(option.id === 'h' ? [onPostgres] : [])]);
  options.push(naive);
  // The tables need three scripts only; measuring the rest is what `--json` and the tests are for.
  const scenarios = json ? SCENARIOS : SCENARIOS.filter(({ script }) => TABLED.includes(script.name));
  const cells: Cell[] = [];
  for (const option of options) cells.push(...(await measure(option, scenarios)));
  const { oldServer } = await import('@mrtr/tests/old-server');
  const oldCells = await measureOldServer(oldServer);
  const processCells = processes ? await measureInProcesses(options) : [];
  const observations = [...cells, ...oldCells, ...processCells].map(({ observed }) => observed.observation);
  if (json) return print(`${JSON.stringify(observations, null, 2)}\n`);

  const tables = {
    options: optionsTable(options, observations),
    quadrant: quadrantTable(options, observations),
    'old-server': oldServerTable(oldCells, cells),
  };
  if (!write && !check) return print(`${Object.values(tables).join('\n\n')}\n`);
  const stale = await updateBlocks(tables, { write });
  const verb = write ? 'Rewrote' : 'Not what is measured:';
  for (const block of stale) process.stdout.write(`${verb} ${block}\n`);
  return check && stale.length > 0 ? 1 : 0;
}

const TABLED = ['metric', 'fixed', 'duplicate'];

async function measureInProcesses(options: readonly Option[]): Promise<readonly Cell[]> {
  const { measureProcesses, Processes } = await import('@mrtr/tests/processes');
  const processes = await Processes.start(moduleOf);
  try {
    return (await measureProcesses(options, processes)).cells;
  } finally {
    await processes.close();
  }
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
