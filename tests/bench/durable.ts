/** The cost of calls of shape H that outlive their process: H on PostgreSQL against H in memory, and against J. */
import type { ChildProcess } from 'node:child_process';
import { postgresServer } from '@mrtr/postgres-server';
import { type Benchmark, type Figure, ratioFigure } from './benchmark.ts';
import { ask, start } from './child/program.ts';
import { again, interleaved, type Pace, type Race } from './race.ts';
import { noiseOf, quantile } from './statistics.ts';

/** A message to an instance: report that you have started, or make calls. */
export type Order = 'ready' | { readonly atOnce: number; readonly sliceMs: number };

/** An instance's report of the calls it made: the median time of a call and its processor time, in microseconds. */
export interface Slice {
  readonly microseconds: number;
  readonly processor: number;
}

const MANY = 32;
const ROUNDS = 3;
const MEMORY = 'h';
const POSTGRES = 'h-postgres';
const NAMES: Readonly<Record<string, string>> = {
  [MEMORY]: 'H in memory',
  [POSTGRES]: 'H on PostgreSQL',
  j: 'J',
};

/** Starts an instance; resolves when it serves. */
async function startInstance(id: string, url: string): Promise<ChildProcess> {
  const child = start('durable-instance', [id], [], { MRTR_BENCH_DATABASE: url });
  await ask(child, 'ready' satisfies Order);
  return child;
}

async function measure(url: string, pace: Pace): Promise<readonly Figure[]> {
  const names = [MEMORY, again(MEMORY), POSTGRES, 'j'];
  const children = await Promise.all(names.map((name) => startInstance(name.replace(again(''), ''), url)));
  const processor = new Map(names.map((name) => [name, [] as number[]]));
  const race = (atOnce: number, sliceMs: number, rounds: number): Promise<Race> => {
    const slicers = names.map((name, at) => ({
      name,
      async slice() {
        const order: Order = { atOnce, sliceMs };
        const slice = await ask<Slice>(children[at] as ChildProcess, order);
        if (atOnce > 1) processor.get(name)?.push(slice.processor);
        return slice.microseconds;
      },
    }));
    return interleaved(slicers, rounds);
  };
  try {
    // With many in flight, V8 sees several times as many calls in the same time.
    await race(MANY, pace.warmupMs * 5, 1);
    const alone = await race(1, pace.sliceMs * 2, pace.rounds);
    // One batch on PostgreSQL takes as long as several slices of the others.
    const many = await race(MANY, pace.sliceMs * 4, Math.ceil(pace.rounds / 4));
    const perCall = `${MANY} in flight, processor time of the instance for a call`;
    return [
      ...compare(alone, 'one at a time'),
      ...compare(many, `${MANY} in flight`),
      ...Object.entries(NAMES).flatMap(([id, name]): readonly Figure[] => [
        {
          what: `${name}, a round, one at a time`,
          unit: 'ms',
          value: alone.microseconds(id) / 1000 / ROUNDS,
        },
        { what: `${name}, ${MANY} in flight`, unit: 'calls/s', value: 1e6 / many.microseconds(id) },
        { what: `${name}, ${perCall}`, unit: 'ms', value: quantile(processor.get(id) ?? [], 0.5) / 1000 },
      ]),
    ];
  } finally {
    for (const child of children) child.kill();
  }
}

function compare(race: Race, at: string): readonly Figure[] {
  const noise = noiseOf(race.ratio(again(MEMORY), MEMORY));
  return [MEMORY, 'j'].map((id) =>
    ratioFigure(`H on PostgreSQL, a call, ${at} ÷ ${NAMES[id]}`, race.ratio(POSTGRES, id), undefined, noise),
  );
}

export const durable: Benchmark = {
  name: 'durable',
  title: 'H on PostgreSQL, two questions',
  async run({ pace }) {
    // As in production, a commit waits for the disk.
    const server = await postgresServer(process.env.MRTR_BENCH_POSTGRES, { fsync: true });
    try {
      const figures = await measure(await server.database(), pace);
      const note =
        'The tool asks two questions, so a call is three rounds; nothing but `createMcpHandler` is between it and the ' +
        'benchmark. Each contestant has a process of its own, in which it makes its calls, and slices take turns: DBOS ' +
        'uses an `AsyncLocalStorage` all the time, and would slow the others.';
      return { figures, note };
    } finally {
      await server.stop();
    }
  },
};
