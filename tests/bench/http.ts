/**
 * Our hosting against a bare SDK server in the documented style, under load. The client uses about a
 * fifth of the server's processor time, so the benchmark measures the server. If other work uses the cores, requests
 * per second say little, but the server's processor time for a request still counts.
 */
import type { ChildProcess } from 'node:child_process';
import { type Benchmark, type Effort, type Figure, ratioFigure } from './benchmark.ts';
import { ask, start } from './child/program.ts';
import { Load } from './load.ts';
import { noiseOf, quantile, type Spread, spreadOf } from './statistics.ts';
import { weather } from './subject/call.ts';
import { SHAPES } from './subject/options.ts';

const CONNECTIONS = 50;
const PLANS: Readonly<Record<Effort['kind'], { rounds: number; burstMs: number }>> = {
  quick: { rounds: 1, burstMs: 100 },
  full: { rounds: 9, burstMs: 500 },
};

class Subject {
  readonly name: string;
  readonly rates: number[] = [];
  readonly latencies: number[][] = [];
  /** Processor time of the server for a request, in microseconds. */
  readonly costs: number[] = [];
  readonly #child: ChildProcess;
  readonly #load: Load;

  private constructor(name: string, child: ChildProcess, port: number) {
    this.name = name;
    this.#child = child;
    this.#load = new Load(port, CONNECTIONS);
  }

  static async start(name: string): Promise<Subject> {
    const child = start('http-server', [name]);
    return new Subject(name, child, await ask<number>(child, 'port'));
  }

  warmUp(): Promise<unknown> {
    return this.#load.burst(weather, 400);
  }

  async burst(ms: number): Promise<void> {
    const before = await ask<number>(this.#child, 'cpu');
    const { requestsPerSecond, requests, latencies } = await this.#load.burst(weather, ms);
    this.costs.push(((await ask<number>(this.#child, 'cpu')) - before) / requests);
    this.rates.push(requestsPerSecond);
    this.latencies.push([...latencies]);
  }

  stop(): void {
    this.#load.close();
    this.#child.disconnect();
  }
}

const pairwise = (values: readonly number[], others: readonly number[]): Spread =>
  spreadOf(values.map((value, at) => value / (others[at] ?? Number.NaN)));

const p99 = ({ latencies }: Subject): readonly number[] => latencies.map((round) => quantile(round, 0.99));

function figuresOf(subject: Subject, baseline: Subject, twin: Subject): readonly Figure[] {
  const shape = subject.name.toUpperCase();
  const rate = pairwise(subject.rates, baseline.rates);
  const tail = pairwise(p99(subject), p99(baseline));
  return [
    ratioFigure(`${shape}, requests per second ÷ bare SDK server`, rate),
    ratioFigure(`${shape}, p99 ÷ bare SDK server`, tail),
    ratioFigure(
      `${shape}, the server's processor time for a request ÷ bare SDK server`,
      pairwise(subject.costs, baseline.costs),
      { most: 0.85 },
      noiseOf(pairwise(twin.costs, baseline.costs)),
    ),
    { what: `${shape}, requests per second`, unit: 'req/s', value: quantile(subject.rates, 0.5) },
  ];
}

export const http: Benchmark = {
  name: 'http',
  title: `HTTP, ${CONNECTIONS} connections, client in another process`,
  async run({ kind }) {
    const { rounds, burstMs } = PLANS[kind];
    const names = ['documented', 'documented', ...SHAPES.map(({ id }) => id)];
    const subjects = await Promise.all(names.map((name) => Subject.start(name)));
    const [baseline, twin, ...shapes] = subjects as [Subject, Subject, ...Subject[]];
    try {
      for (const subject of subjects) await subject.warmUp();
      for (let round = 0; round < rounds; round++) {
        for (const subject of round % 2 ? subjects.toReversed() : subjects) await subject.burst(burstMs);
      }
      const figures = shapes.flatMap((subject) => figuresOf(subject, baseline, twin));
      const bare: Figure = {
        what: 'Bare SDK server, requests per second',
        unit: 'req/s',
        value: quantile(baseline.rates, 0.5),
      };
      return { figures: [...figures, bare], notes: [] };
    } finally {
      for (const subject of subjects) subject.stop();
    }
  },
};
