/** A benchmark and its results. */
import type { Pace } from './race.ts';
import type { Spread } from './statistics.ts';

/** How much of it is run. */
export interface Effort {
  readonly kind: 'quick' | 'full';
  readonly pace: Pace;
}

/** All there are: `quick` to see that it runs. */
export const EFFORTS = {
  quick: { kind: 'quick', pace: { rounds: 2, sliceMs: 4, warmupMs: 10 } },
  full: { kind: 'full', pace: { rounds: 15, sliceMs: 25, warmupMs: 150 } },
} as const satisfies Record<string, Effort>;

/** The goal for a number. */
export type Goal = { readonly most: number };

/** One measured number. */
export interface Figure {
  readonly what: string;
  readonly unit: '×' | 'B' | 'ms' | 'µs' | 'req/s' | 'calls/s';
  readonly value: number;
  /** The quartiles, if there are several measurements. */
  readonly spread?: readonly [low: number, high: number] | undefined;
  readonly goal?: Goal | undefined;
  /** The run's A/A spread, as a share. */
  readonly noise?: number | undefined;
}

/** The results of a benchmark. */
export interface Outcome {
  readonly figures: readonly Figure[];
  /** How it was measured. */
  readonly note?: string;
}

/** One of the benchmarks. */
export interface Benchmark {
  readonly name: string;
  readonly title: string;
  readonly run: (effort: Effort) => Promise<Outcome>;
}

/** Whether a figure meets its goal. Only `missed` fails `--check`. */
export type Verdict = 'met' | 'within noise' | 'missed';

/** Whether a figure meets its goal; undefined if it has none. */
export function verdictOf({ value, goal, noise = 0 }: Figure): Verdict | undefined {
  if (!goal) return undefined;
  if (value <= goal.most) return 'met';
  return value / goal.most <= 1 + noise ? 'within noise' : 'missed';
}

/** A figure that is a ratio. */
export const ratioFigure = (what: string, ratio: Spread, goal?: Goal, noise?: number): Figure => ({
  what,
  unit: '×',
  value: ratio.median,
  spread: [ratio.low, ratio.high],
  goal,
  noise,
});
