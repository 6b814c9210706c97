/**
 * Measures contestants side by side: each round has one slice of some milliseconds of every contestant, in turned
 * order. The speed of a machine varies, so each ratio is taken within a round, and the result is the median over the
 * rounds.
 */

/** A contestant. `slice` measures for some milliseconds, and resolves with the microseconds of one iteration. */
export interface Contestant {
  readonly name: string;
  readonly slice: (milliseconds: number) => Promise<number>;
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

/** A contestant that repeats `run` in this process. */
export const repeating = (name: string, run: () => unknown): Contestant => ({
  name,
  async slice(milliseconds) {
    const times: number[] = [];
    const end = performance.now() + milliseconds;
    do {
      const started = performance.now();
      await run();
      times.push(performance.now() - started);
    } while (performance.now() < end);
    return medianOf(times) * 1000;
  },
});

/** The name of the second measurement of `name`, which shows the noise of the run. */
const again = (name: string): string => `${name}, again`;

/** The results: one number for each round, by contestant. */
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
  const [first] = contestants as [Contestant];
  const all = [first, { ...first, name: again(first.name) }, ...contestants.slice(1)];
  for (const { slice } of all) await slice(pace.warmupMs);
  const slices = new Map(all.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round < pace.rounds; round++)
    for (const { name, slice } of round % 2 ? all.toReversed() : all)
      slices.get(name)?.push(await slice(pace.sliceMs));
  return new Race(slices);
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.round(share * (values.length - 1))] ?? Number.NaN;

export const medianOf = (values: readonly number[]): number => quantile(values, 0.5);

const spreadOf = (values: readonly number[]): Spread => ({
  median: medianOf(values),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75),
});
