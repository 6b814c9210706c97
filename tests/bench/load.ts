/** Servers in their own processes, under HTTP load from this one. */
import { poster } from '@mrtr/harness';
import { RunningProcess } from '@mrtr/harness/process';
import { callMany, type Plan, WEATHER, WORK_ITEM } from './call.ts';
import { type Benchmark, type Figure, programAt, ratioFigure } from './figures.ts';
import { type Contestant, medianOf, type Pace, QUICK, type Race, race, spreadOf } from './race.ts';
import { HOSTED, SHAPES, withoutSingleUse } from './subjects.ts';

/**
 * The servers wait for each other. After some seconds of waiting, Node gives memory back, and much of its compiled code with
 * it: the next 1500 calls then take up to twice as long. A server under load never waits so long.
 */
const AS_IF_BUSY = '--no-memory-reducer';

/** A server. A run measures its processor time for a call. */
class LoadedServer implements Contestant {
  readonly name: string;
  readonly #process: RunningProcess;
  readonly #plan: Plan;
  #rates: number[] = [];
  #atOnce = 1;
  #milliseconds = 0;
  #url = new URL('http://not.started');

  constructor(name: string, plan: Plan) {
    this.name = name;
    this.#plan = plan;
    const args = [AS_IF_BUSY, programAt('server'), name];
    this.#process = new RunningProcess({ command: process.execPath, args }, { ipc: true });
  }

  async start(): Promise<void> {
    this.#url = new URL(await this.#process.message<string>());
  }

  /** Makes calls that nobody measures, until Node has compiled the code for speed. */
  async warmUp(calls: number): Promise<void> {
    let left = calls;
    await callMany(poster(this.#url), this.#plan, Math.min(calls, CONNECTIONS), () => left-- > 0);
  }

  /** Sets the number of concurrent calls, and for how long, for later runs. */
  load(atOnce: number, milliseconds: number): void {
    this.#atOnce = atOnce;
    this.#milliseconds = milliseconds;
    this.#rates = [];
  }

  readonly run = async () => {
    const before = await this.#processorTime();
    const started = performance.now();
    const passed = () => performance.now() - started;
    const post = poster(this.#url);
    const calls = await callMany(post, this.#plan, this.#atOnce, () => passed() < this.#milliseconds);
    const overriddenIterationCost = passed();
    this.#rates.push((calls * 1000) / overriddenIterationCost);
    const microseconds = ((await this.#processorTime()) - before) / calls;
    return { overriddenDuration: microseconds / 1000, overriddenIterationCost };
  };

  /** Calls per second. */
  get rate(): number {
    return medianOf(this.#rates);
  }

  /** The spread of the rates as shares of their median. */
  get rateNoise(): number {
    const { median, low, high } = spreadOf(this.#rates);
    return Math.max(high / median - 1, 1 - low / median);
  }

  kill(): Promise<void> {
    return this.#process.kill();
  }

  #processorTime(): Promise<number> {
    this.#process.child.send('processor time');
    return this.#process.message<number>();
  }
}

/** Runs `measure` with servers of these names. */
async function withServers(
  names: readonly string[],
  plan: Plan,
  warmUpCalls: number,
  measure: (servers: readonly LoadedServer[]) => Promise<readonly Figure[]>,
): Promise<readonly Figure[]> {
  const servers = names.map((name) => new LoadedServer(name, plan));
  try {
    for (const server of servers) {
      await server.start();
      await server.warmUp(warmUpCalls);
    }
    return await measure(servers);
  } finally {
    await Promise.all(servers.map((server) => server.kill()));
  }
}

/** A slice is one run. */
function raceUnderLoad(servers: readonly LoadedServer[], atOnce: number, pace: Pace): Promise<Race> {
  for (const server of servers) server.load(atOnce, pace.sliceMs);
  return race(servers, pace);
}

const CONNECTIONS = 50;
/** Node compiles nine tenths of the functions in the first 2000 calls, and nearly all others in the next 2000. */
const WARM_UP_CALLS = 4000;

export const http: Benchmark = {
  name: 'http',
  title: `HTTP, ${CONNECTIONS} connections, ÷ bare SDK server`,
  note: `The processor time is the server’s, after ${WARM_UP_CALLS} calls.`,
  run: (pace) =>
    withServers(
      ['documented', HOSTED, ...SHAPES, ...SHAPES.map(withoutSingleUse)],
      WEATHER,
      pace === QUICK ? 20 : WARM_UP_CALLS,
      async (servers) => {
        const result = await raceUnderLoad(servers, CONNECTIONS, { ...pace, sliceMs: pace.sliceMs * 20 });
        const processorTime = (id: string, of: string, how: string, goal?: number) => {
          const what = `${id.toUpperCase()}, processor time for a call${how}`;
          return ratioFigure(what, result, of, 'documented', goal);
        };
        const [bare, , ...ours] = servers as [LoadedServer, LoadedServer, ...LoadedServer[]];
        return [
          ...SHAPES.map((id) => processorTime(id, id, '', 0.9)),
          ...SHAPES.map((id) => processorTime(id, withoutSingleUse(id), ' without single use')),
          ratioFigure(
            'processor time for a call, documented style on `serveHttp`',
            result,
            HOSTED,
            'documented',
          ),
          ...ours.slice(0, SHAPES.length).map(({ name, rate }): Figure => {
            const what = `${name.toUpperCase()}, calls per second`;
            const value = rate / bare.rate;
            return { what, unit: '×', value, goal: 1.15, isFloor: true, noise: bare.rateNoise };
          }),
          { what: 'bare SDK server', unit: 'calls/s', value: bare.rate },
        ];
      },
    ),
};

const MANY = 32;
const ROUNDS = 3;
const NAMES: Readonly<Record<string, string>> = { h: 'H in memory', 'h-postgres': 'H on PostgreSQL', j: 'J' };

export const durable: Benchmark = {
  name: 'durable',
  title: 'H on PostgreSQL, two questions',
  note: `A call is ${ROUNDS} rounds. As in production, a commit waits for the disk.`,
  run: (pace) =>
    withServers(Object.keys(NAMES), WORK_ITEM, pace === QUICK ? 20 : WARM_UP_CALLS / 8, async (servers) => {
      const longer = { ...pace, sliceMs: pace.sliceMs * 8 };
      await raceUnderLoad(servers, 1, longer);
      const alone = servers.map(({ name, rate }): Figure => {
        const what = `${NAMES[name]}, a round, one at a time`;
        return { what, unit: 'ms', value: 1000 / rate / ROUNDS };
      });
      const many = await raceUnderLoad(servers, MANY, longer);
      return servers.flatMap(({ name, rate }, at): readonly Figure[] => [
        alone[at] as Figure,
        { what: `${NAMES[name]}, ${MANY} in flight`, unit: 'calls/s', value: rate },
        {
          what: `${NAMES[name]}, ${MANY} in flight, processor time for a call`,
          unit: 'ms',
          value: many.median(name) / 1000,
        },
      ]);
    }),
};
