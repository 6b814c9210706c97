/** Goal 5: resolvers wait side by side, and are planned once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { type CallToolResult, protectedServer, requestStatePolicy, textResult } from '@mrtr/core';
import type { SdkCallback } from '@mrtr/core/shape';
import { type Resolver, resolve, resolver } from '@mrtr/shapes/resolve';
import { z } from 'zod';
import { type Benchmark, type Figure, ratioFigure } from './benchmark.ts';
import { again, type Pace, race, withTwin } from './race.ts';
import { noiseOf } from './statistics.ts';
import { call, inProcess } from './subject/call.ts';

const WAIT_MS = 5;
const inputSchema = z.object({});
const done = () => textResult('Done.');
const wait = () => sleep(WAIT_MS, 'waited');

let planned = 0;

/** Counts how often its needs are read, which only planning does. */
const counted = (name: string, needs: Record<string, Resolver<string>>): Resolver<string> =>
  resolver(
    name,
    () => {
      planned++;
      return needs;
    },
    wait,
  ) as Resolver<string>;

function chain(depth: number): SdkCallback<Record<string, never>, CallToolResult> {
  let last = counted('r0', {});
  for (let at = 1; at < depth; at++) last = counted(`r${at}`, { last });
  return resolve(inputSchema, { last }, done);
}

function fan(width: number): SdkCallback<Record<string, never>, CallToolResult> {
  const all = Array.from({ length: width }, (_, at) => [`r${at}`, counted(`r${at}`, {})]);
  return resolve(inputSchema, Object.fromEntries(all) as Record<string, Resolver<string>>, done);
}

const policy = requestStatePolicy({ keys: ['a key of at least thirty-two bytes'], singleUse: false });

function hosted(callback: SdkCallback<Record<string, never>, CallToolResult>) {
  const exchange = inProcess(
    createMcpHandler(() => {
      const server = protectedServer({ name: 'resolvers', version: '0.0.0' }, policy);
      server.registerTool('resolve', { inputSchema }, callback);
      return server;
    }),
  );
  return () => call(exchange, { tool: 'resolve', arguments: () => ({}), answers: {} });
}

const byHand = {
  chain: (depth: number) => async () => {
    for (let at = 0; at < depth; at++) await wait();
    return done();
  },
  fan: (width: number) => async () => {
    await Promise.all(Array.from({ length: width }, wait));
    return done();
  },
};

async function compare(kind: 'chain' | 'fan', size: number, pace: Pace): Promise<Figure> {
  const result = await race(
    withTwin([
      { name: 'by hand', run: hosted(byHand[kind](size)) },
      { name: 'resolvers', run: hosted(kind === 'chain' ? chain(size) : fan(size)) },
    ]),
    pace,
  );
  const noise = noiseOf(result.ratio(again('by hand'), 'by hand'));
  const what = `${kind === 'chain' ? `A chain of ${size}` : `A fan of ${size}`}, each ${WAIT_MS} ms ÷ the same by hand`;
  return ratioFigure(what, result.ratio('resolvers', 'by hand'), { most: 1.05 }, noise);
}

export const resolvers: Benchmark = {
  name: 'resolvers',
  title: 'Resolvers: the critical path, planned once',
  async run({ pace }) {
    const figures: Figure[] = [];
    const shorter = { ...pace, rounds: Math.min(pace.rounds, 8), sliceMs: pace.sliceMs * 2, warmupMs: 30 };
    for (const size of [4, 16]) figures.push(await compare('chain', size, shorter));
    for (const size of [4, 64]) figures.push(await compare('fan', size, shorter));
    const one = hosted(chain(8));
    const built = planned;
    for (let at = 0; at < 5; at++) await one();
    const again = {
      what: 'Looks at the needs of 8 resolvers, in 5 calls',
      unit: '',
      goal: { most: 0 },
    } as const;
    return { figures: [...figures, { ...again, value: planned - built }], notes: [] };
  },
};
