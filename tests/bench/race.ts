/**
 * Measures contestants side by side with tinybench: each round has one slice of some milliseconds of every contestant, in
 * turned order. The speed of a machine varies, so each ratio is taken within a round, and the result is the median over the
 * rounds.
 */
import { Bench } from 'tinybench';

/** A contestant. A slice repeats `run`, which may return a duration in milliseconds to count in place of its own. */
export interface Contestant {
  readonly name: string;
  readonly run: () => unknown;
}

/** The effort of a run. */
export interface Pace {
  readonly rounds: number;
  readonly sliceMs: number;
  readonly warmupMs: number;
}

export const QUICK: Pace = { rounds: 2, sliceMs: 4, warmupMs: 10 };
export const FULL: Pace = { rounds: 15, sliceMs: 25, warmupMs: 150 };

/** Median and quartiles. Unlike a mean, they hardly change when the machine stalls. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** The name of the second measurement of `name`, which shows the noise of the run. */
const again = (name: string): string => `${name}, again`;

/** The results: the median of each slice in microseconds, by contestant. */
export class Race {
  readonly #slices: ReadonlyMap<string, readonly number[]>;

  constructor(slices: ReadonlyMap<string, readonly number[]>) {
    this.#slices = slices;
  }

  /** The median of one contestant. */
  median(name: string): number {
    return medianOf(this.#of(name));
  }

  /** The ratio of `name` to `of` within each round. */
  ratio(name: string, of: string): Spread {
    const others = this.#of(of);
    return spreadOf(this.#of(name).map((value, round) => value / (others[round] ?? Number.NaN)));
  }

  /**
   * The difference between the two measurements of the first contestant, as a share. A real difference must exceed it.
   */
  get noise(): number {
    const [first = ''] = this.#slices.keys();
    const { low, high } = this.ratio(again(first), first);
    return Math.max(Math.abs(low - 1), Math.abs(high - 1));
  }

  #of(name: string): readonly number[] {
    const slices = this.#slices.get(name);
    if (!slices) throw new Error(`${name} was not in the race.`);
    return slices;
  }
}

/** Runs the contestants against each other, the first of them twice. */
export async function race(contestants: readonly Contestant[], pace: Pace): Promise<Race> {
  const bench = new Bench({
    ...{ time: pace.sliceMs, iterations: 1, warmupTime: pace.warmupMs, warmupIterations: 1, throws: true },
  });
  const [first] = contestants as [Contestant];
  for (const { name, run } of [first, { ...first, name: again(first.name) }, ...contestants.slice(1)])
    bench.add(name, run, { async: true });
  for (const task of bench.tasks) await task.warmup();
  const slices = new Map(bench.tasks.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round < pace.rounds; round++)
    for (const task of round % 2 ? bench.tasks.toReversed() : bench.tasks) {
      task.reset();
      const { result } = await task.run();
      if ('latency' in result) slices.get(task.name)?.push(result.latency.p50 * 1000);
    }
  return new Race(slices);
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.round(share * (values.length - 1))] ?? Number.NaN;

export const medianOf = (values: readonly number[]): number => quantile(values, 0.5);

export const spreadOf = (values: readonly number[]): Spread => ({
  median: medianOf(values),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75),
});
