/**
 * Our hosting against a bare SDK server in the documented style, under load from another process. The server's processor
 * time for a request counts, also where other work uses the cores.
 */
import type { ChildProcess } from 'node:child_process';
import { type Benchmark, type Effort, type Figure, ratioFigure } from './benchmark.ts';
import { ask, start } from './child/program.ts';
import { noiseOf, quantile, type Spread, spreadOf } from './statistics.ts';
import { call, headersFor, replyIn, weather } from './subject/call.ts';
import { SHAPES } from './subject/options.ts';

const CONNECTIONS = 50;
const PLANS: Readonly<Record<Effort['kind'], { rounds: number; burstMs: number }>> = {
  quick: { rounds: 1, burstMs: 100 },
  full: { rounds: 9, burstMs: 500 },
};

interface Subject {
  readonly name: string;
  readonly child: ChildProcess;
  readonly url: string;
  /** Requests per second, in each burst. */
  readonly rates: number[];
  /** Processor time of the server for a request, in microseconds. */
  readonly costs: number[];
}

async function startSubject(name: string): Promise<Subject> {
  const child = start('http-server', [name]);
  const port = await ask<number>(child, 'port');
  return { name, child, url: `http://127.0.0.1:${port}/mcp`, rates: [], costs: [] };
}

/** Makes calls until `ms` have passed, always as many at once. */
async function burst({ child, url, rates, costs }: Subject, ms: number): Promise<void> {
  const before = await ask<number>(child, 'cpu');
  const started = performance.now();
  let requests = 0;
  const exchange = async (message: object, tool: string) => {
    requests++;
    const init = { method: 'POST', headers: headersFor(tool), body: JSON.stringify(message) };
    return replyIn(await (await fetch(url, init)).text());
  };
  const worker = async () => {
    while (performance.now() - started < ms) await call(exchange, weather);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  rates.push((requests * 1000) / (performance.now() - started));
  costs.push(((await ask<number>(child, 'cpu')) - before) / requests);
}

const pairwise = (values: readonly number[], others: readonly number[]): Spread =>
  spreadOf(values.map((value, at) => value / (others[at] ?? Number.NaN)));

function figuresOf(subject: Subject, baseline: Subject, twin: Subject): readonly Figure[] {
  const shape = subject.name.toUpperCase();
  return [
    ratioFigure(
      `${shape}, the server's processor time for a request ÷ bare SDK server`,
      pairwise(subject.costs, baseline.costs),
      { most: 0.85 },
      noiseOf(pairwise(twin.costs, baseline.costs)),
    ),
    ratioFigure(`${shape}, requests per second ÷ bare SDK server`, pairwise(subject.rates, baseline.rates)),
    { what: `${shape}, requests per second`, unit: 'req/s', value: quantile(subject.rates, 0.5) },
  ];
}

export const http: Benchmark = {
  name: 'http',
  title: `HTTP, ${CONNECTIONS} connections, client in another process`,
  async run({ kind }) {
    const { rounds, burstMs } = PLANS[kind];
    const names = ['documented', 'documented', ...SHAPES.map(({ id }) => id)];
    const subjects = await Promise.all(names.map(startSubject));
    const [baseline, twin, ...shapes] = subjects as [Subject, Subject, ...Subject[]];
    try {
      for (const subject of subjects) await burst({ ...subject, rates: [], costs: [] }, 400);
      for (let round = 0; round < rounds; round++) {
        for (const subject of round % 2 ? subjects.toReversed() : subjects) await burst(subject, burstMs);
      }
      return { figures: shapes.flatMap((subject) => figuresOf(subject, baseline, twin)) };
    } finally {
      for (const { child } of subjects) child.disconnect();
    }
  },
};
