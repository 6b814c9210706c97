/**
 * Measures contestants side by side.
 *
 * tinybench measures one contestant after the other, for seconds each. On a machine whose speed varies, that compares
 * times at different speeds. So here tinybench measures slices of some milliseconds. Each round has one slice of every
 * contestant, in a changing order. A ratio is taken within a round; the result is the median over the rounds.
 */
import { Bench, type Task } from 'tinybench';
import { quantile, type Spread, spreadOf } from './statistics.ts';

/** A contestant. `run` is one iteration. */
export interface Contestant {
  readonly name: string;
  readonly run: () => unknown;
}

/** How much is measured. */
export interface Pace {
  readonly rounds: number;
  readonly sliceMs: number;
  readonly warmupMs: number;
}

/** The results. */
export class Race {
  readonly #slices: ReadonlyMap<string, readonly number[]>;

  /** @param slices by contestant, one number for each round. */
  constructor(slices: ReadonlyMap<string, readonly number[]>) {
    this.#slices = slices;
  }

  /** Time of one iteration, in microseconds. */
  microseconds(name: string): number {
    return quantile(this.#of(name), 0.5);
  }

  /** The ratio of `name` to `of` within each round. */
  ratio(name: string, of: string): Spread {
    const others = this.#of(of);
    return spreadOf(this.#of(name).map((value, round) => value / (others[round] ?? Number.NaN)));
  }

  #of(name: string): readonly number[] {
    const slices = this.#slices.get(name);
    if (!slices) throw new Error(`${name} was not in the race.`);
    return slices;
  }
}

/** The name of the second measurement of `name`, which shows the noise of the run. */
export const again = (name: string): string => `${name}, again`;

/** Adds the A/A pair: the first contestant once more. */
export const withTwin = ([first, ...rest]: readonly [Contestant, ...Contestant[]]): readonly Contestant[] => [
  first,
  { ...first, name: again(first.name) },
  ...rest,
];

/** Runs the contestants against each other. */
export async function race(contestants: readonly Contestant[], pace: Pace): Promise<Race> {
  for (const one of contestants) await slicer(one, pace.warmupMs).slice();
  return interleaved(
    contestants.map((one) => slicer(one, pace.sliceMs)),
    pace.rounds,
  );
}

/** A contestant in any process. `slice` measures one slice, and resolves with microseconds for one iteration. */
export interface Slicer {
  readonly name: string;
  readonly slice: () => Promise<number>;
}

/** Measures each contestant in each round. */
export async function interleaved(slicers: readonly Slicer[], rounds: number): Promise<Race> {
  const slices = new Map(slicers.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    for (const { name, slice } of turned(slicers, round)) slices.get(name)?.push(await slice());
  }
  return new Race(slices);
}

/** A contestant that runs in this process, alone. */
export function slicer({ name, run }: Contestant, sliceMs: number): Slicer {
  // One iteration may take several slices' time.
  const bench = new Bench({ iterations: 1, warmup: false, throws: true, time: sliceMs });
  bench.add(name, run);
  const [task] = bench.tasks as [Task];
  const slice = async () => {
    task.reset(false);
    await task.run();
    const { result } = task;
    if (result.state !== 'completed') throw new Error(`${name} did not complete.`, { cause: result });
    return result.latency.p50 * 1000;
  };
  return { name, slice };
}

/** The contestants in another order in each round, so that none always has the same neighbour. */
function turned<T>(slicers: readonly T[], round: number): readonly T[] {
  const from = round % slicers.length;
  const order = [...slicers.slice(from), ...slicers.slice(0, from)];
  return round % 2 === 0 ? order : order.reverse();
}
