/** The command line. */
import { parseArgs } from 'node:util';
import type { Effort } from './benchmark.ts';

/** What was asked for. */
export interface Settings {
  readonly effort: Effort;
  readonly json: boolean;
  readonly check: boolean;
  readonly write: boolean;
  readonly only: readonly string[];
  readonly help: boolean;
}

export const HELP = `Usage: pnpm bench [options]

  --only NAME   run one benchmark; may be given several times
  --json        print the figures as JSON, and write no document
  --check       exit with 1 when a goal is missed by more than the run's A/A spread
  --no-write    leave docs/performance.md and its charts as they are (so does --only)
  --quick       a few seconds, to see that it runs; the numbers mean nothing, and nothing is written
  --thorough    100 000 calls where growth of memory is measured; some minutes more

MRTR_BENCH_POSTGRES names a PostgreSQL to measure on, by the connection string of a role that may create databases.
`;

const EFFORTS = {
  quick: { kind: 'quick', pace: { rounds: 2, sliceMs: 4, warmupMs: 10 } },
  full: { kind: 'full', pace: { rounds: 15, sliceMs: 25, warmupMs: 150 } },
  thorough: { kind: 'thorough', pace: { rounds: 25, sliceMs: 25, warmupMs: 200 } },
} as const satisfies Record<string, Effort>;

/** @throws TypeError for what it does not know. */
export function readArgs(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      only: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      write: { type: 'boolean', default: true },
      quick: { type: 'boolean', default: false },
      thorough: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const kind = values.quick ? 'quick' : values.thorough ? 'thorough' : 'full';
  return {
    effort: EFFORTS[kind],
    json: values.json,
    check: values.check,
    write: values.write && !values.json && !values.quick && values.only.length === 0,
    only: values.only,
    help: values.help,
  };
}
