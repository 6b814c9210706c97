/** What a benchmark is, and what it comes to. */
import type { Pace } from './race.ts';
import type { Spread } from './statistics.ts';

/** How much of it is run: `quick` to see that it runs, `thorough` for what takes 100 000 calls. */
export interface Effort {
  readonly kind: 'quick' | 'full' | 'thorough';
  readonly pace: Pace;
}

/** What a number should be. */
export type Goal = { readonly most: number } | { readonly least: number };

/** One measured number. */
export interface Figure {
  readonly what: string;
  readonly unit: '×' | 'B' | 'ms' | 'µs' | 'req/s' | 'calls/s' | '';
  readonly value: number;
  /** The quartiles, where there are several measurements. */
  readonly spread?: readonly [low: number, high: number] | undefined;
  readonly goal?: Goal | undefined;
  /** The run's A/A spread, as a share. */
  readonly noise?: number | undefined;
}

/** What a benchmark came to. */
export interface Outcome {
  readonly figures: readonly Figure[];
  /** Absolute values and conditions, for whoever wants them. */
  readonly notes: readonly string[];
}

/** One of the benchmarks. */
export interface Benchmark {
  readonly name: string;
  readonly title: string;
  readonly run: (effort: Effort) => Promise<Outcome>;
}

/** Of `met`, `within noise` and `missed`, the last alone fails `--check`. */
export type Verdict = 'met' | 'within noise' | 'missed';

/** Whether a figure is what it should be; undefined where nothing was asked of it. */
export function verdictOf({ value, goal, noise = 0 }: Figure): Verdict | undefined {
  if (!goal) return undefined;
  const limit = 'most' in goal ? goal.most : goal.least;
  if ('most' in goal ? value <= limit : value >= limit) return 'met';
  const excess = 'most' in goal ? value / limit : limit / value;
  return excess <= 1 + noise ? 'within noise' : 'missed';
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
