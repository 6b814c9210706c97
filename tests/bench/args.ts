/** The command line. */
import { Command } from 'commander';
import type { Effort } from './benchmark.ts';

/** The parsed command line. */
export interface Settings {
  readonly effort: Effort;
  readonly json: boolean;
  readonly check: boolean;
  readonly write: boolean;
  readonly only: readonly string[];
}

const EFFORTS = {
  quick: { kind: 'quick', pace: { rounds: 2, sliceMs: 4, warmupMs: 10 } },
  full: { kind: 'full', pace: { rounds: 15, sliceMs: 25, warmupMs: 150 } },
} as const satisfies Record<string, Effort>;

const further = (name: string, before: readonly string[] = []) => [...before, name];

/** Reads the arguments. After the help or a mistake, it ends the program with 0 or 2. */
export function readArgs(args: readonly string[]): Settings {
  const program = new Command('pnpm bench')
    .option('--only <name>', 'run one benchmark; may be given several times', further)
    .option('--json', 'print the figures as JSON, and write no document')
    .option('--check', "exit with 1 when a goal is missed by more than the run's A/A spread")
    .option('--no-write', 'leave docs/performance.md as it is (so does --only)')
    .option('--quick', 'a few seconds, to see that it runs; nothing is written')
    .allowExcessArguments(false)
    .addHelpText(
      'after',
      '\nMRTR_BENCH_POSTGRES names a PostgreSQL to measure on, by the connection string of a role that may create databases.',
    )
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .parse(args, { from: 'user' });
  const { only = [], json = false, check = false, write, quick } = program.opts();
  const kind = quick ? 'quick' : 'full';
  return {
    effort: EFFORTS[kind],
    json,
    check,
    write: write && !json && !quick && only.length === 0,
    only,
  };
}
