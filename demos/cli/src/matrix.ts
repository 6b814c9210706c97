/** `pnpm matrix`: measures the options, prints the tables, and keeps the documents' generated blocks true. */
import type { Option } from '@mrtr/contract';
import {
  type Cell,
  measure,
  measureOldServer,
  oldServerTable,
  optionsTable,
  quadrantTable,
  SCENARIOS,
} from '@mrtr/harness';
import { loadOptions, moduleOf } from './catalog.ts';
import { updateBlocks } from './generated-blocks.ts';

const HELP = `Usage: pnpm matrix [--json [--processes] | --write | --check]

Measures every option and prints the tables of the README.

  --json       every observation of the whole matrix, as JSON
  --processes  with --json: also in processes of their own, over stdio and
               HTTP and as a fleet, and through kills; half a minute more
  --write      rewrite the generated blocks of README.md and docs/
  --check      exit with 1 when a generated block is not what is measured
`;

/** Runs the command; resolves with its exit code. */
export async function matrix(args: readonly string[]): Promise<number> {
  const flags = args.filter((arg) => arg !== '--');
  const inProcesses = flags.includes('--json') && flags.includes('--processes');
  const [flag, ...rest] = inProcesses ? flags.filter((arg) => arg !== '--processes') : flags;
  if (rest.length > 0 || (flag !== undefined && !['--json', '--write', '--check', '--help'].includes(flag))) {
    process.stderr.write(`Unknown argument '${rest[0] ?? flag}'.\n\n${HELP}`);
    return 2;
  }
  if (flag === '--help') return print(HELP);
  const { naive } = await import('@mrtr/option-e');
  const options = [...(await loadOptions()), naive];
  // The tables need three scripts only; measuring the rest is what `--json` and the tests are for.
  const scenarios =
    flag === '--json' ? SCENARIOS : SCENARIOS.filter(({ script }) => TABLED.includes(script.name));
  const cells: Cell[] = [];
  for (const option of options) cells.push(...(await measure(option, scenarios)));
  const { oldServer } = await import('@mrtr/old-server');
  const oldCells = await measureOldServer(oldServer);
  const processCells = inProcesses ? await measureInProcesses(options) : [];
  const observations = [...cells, ...oldCells, ...processCells].map(({ observed }) => observed.observation);
  if (flag === '--json') return print(`${JSON.stringify(observations, null, 2)}\n`);

  const tables = {
    options: optionsTable(options, observations),
    quadrant: quadrantTable(options, observations),
    'old-server': oldServerTable(oldCells, cells),
  };
  if (flag === undefined) return print(`${Object.values(tables).join('\n\n')}\n`);
  const stale = await updateBlocks(tables, { write: flag === '--write' });
  const verb = flag === '--write' ? 'Rewrote' : 'Not what is measured:';
  for (const block of stale) process.stdout.write(`${verb} ${block}\n`);
  return flag === '--check' && stale.length > 0 ? 1 : 0;
}

const TABLED = ['metric', 'fixed', 'duplicate'];

async function measureInProcesses(options: readonly Option[]): Promise<readonly Cell[]> {
  const { measureProcesses, Processes } = await import('@mrtr/harness/processes');
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
