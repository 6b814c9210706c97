/** Goal 3: the cost of a call that asks often. */
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import {
  ask,
  elicitation,
  protectedServer,
  type RequestStatePolicy,
  requestStatePolicy,
  textResult,
} from '@mrtr/core';
import { journal } from '@mrtr/shapes/journal';
import { ContinuationStore, linear } from '@mrtr/shapes/linear';
import { once } from '@mrtr/shapes/once';
import { type Resolver, resolve, resolver } from '@mrtr/shapes/resolve';
import { ToolBuilder } from '@mrtr/shapes/tool-builder';
import { z } from 'zod';
import { type Benchmark, type Figure, ratioFigure } from './benchmark.ts';
import { again, type Contestant, type Pace, race, withTwin } from './race.ts';
import { replaySteps } from './replay.ts';
import { noiseOf } from './statistics.ts';
import { call, type Exchange, inProcess } from './subject/call.ts';

const ROUNDS = [1, 5, 20, 50] as const;
const Answer = z.object({ units: z.enum(['metric', 'imperial']) });
const inputSchema = z.object({});
const keysOf = (rounds: number) => Array.from({ length: rounds }, (_, at) => `q${at}`);
const questions = new Map(keysOf(50).map((key) => [key, elicitation(`Question ${key}?`, Answer)]));
const question = (key: string) => questions.get(key) as ReturnType<typeof elicitation<typeof Answer>>;
const done = () => textResult('Done.');

type Register = (server: McpServer, keys: readonly string[]) => void;

const store = new ContinuationStore();

/** A tool that asks `rounds` questions, one after the other, in each shape. */
const SHAPES: Readonly<Record<string, Register>> = {
  f: (server, keys) =>
    server.registerTool(
      'ask',
      { inputSchema },
      once(async (_args, ctx) => {
        for (const key of keys) {
          if (ctx.answer(key, question(key)).kind !== 'accepted') return ask({ [key]: question(key) });
        }
        return done();
      }),
    ),
  g: (server, keys) => {
    let builder = new ToolBuilder<object>() as ToolBuilder<object, Readonly<Record<string, unknown>>>;
    for (const key of keys) {
      builder = builder.incompleteStep(key as never, () => question(key)) as typeof builder;
    }
    server.registerTool('ask', { inputSchema }, builder.endStep(done).build());
  },
  h: (server, keys) =>
    server.registerTool(
      'ask',
      { inputSchema },
      linear(
        async (_args, ctx) => {
          for (const key of keys) await ctx.ask(key, question(key));
          return done();
        },
        { store },
      ),
    ),
  i: (server, keys) => {
    let last: Resolver<{ units: string }> | undefined;
    for (const key of keys) {
      const needs = last ? { last } : {};
      last = resolver(key, needs, () => question(key));
    }
    server.registerTool('ask', { inputSchema }, resolve(inputSchema, last ? { last } : {}, done));
  },
  j: (server, keys) =>
    server.registerTool(
      'ask',
      { inputSchema },
      journal(async (_args, ctx) => {
        for (const key of keys) await ctx.ask(key, question(key));
        return done();
      }),
    ),
};

const answers = Object.fromEntries(keysOf(50).map((key) => [key, { units: 'metric' }]));
const plan = { tool: 'ask', arguments: () => ({}), answers };

/** The length of the state that each round returned. */
async function stateBytes(exchange: Exchange): Promise<readonly number[]> {
  const bytes: number[] = [];
  await call(async (request, tool) => {
    const reply = await exchange(request, tool);
    const state = reply.result?.requestState;
    if (typeof state === 'string') bytes.push(state.length);
    return reply;
  }, plan);
  return bytes;
}

async function ofShape(id: string, policy: RequestStatePolicy, pace: Pace): Promise<readonly Figure[]> {
  const exchanges = ROUNDS.map((rounds) => {
    const keys = keysOf(rounds);
    const register = SHAPES[id] as Register;
    return inProcess(
      createMcpHandler(() => {
        const server = protectedServer({ name: 'growth', version: '0.0.0' }, policy);
        register(server, keys);
        return server;
      }),
    );
  });
  const contestants = exchanges.map(
    (exchange, at): Contestant => ({ name: `${ROUNDS[at]}`, run: () => call(exchange, plan) }),
  );
  const result = await race(withTwin(contestants as [Contestant, ...Contestant[]]), pace);
  const noise = noiseOf(result.ratio(again('1'), '1'));
  const perRound = (rounds: number) => result.microseconds(`${rounds}`) / (rounds + 1);
  const bytes = await stateBytes(exchanges.at(-1) as Exchange);
  // Bytes of the state of round n are linear in n, and so is the mean time of a round: slopes of both halves agree.
  const late = (at: (rounds: number) => number) => (at(50) - at(20)) / 30;
  const early = (at: (rounds: number) => number) => (at(20) - at(5)) / 15;
  const bytesAt = (rounds: number) => bytes[rounds - 1] ?? Number.NaN;
  const shape = id.toUpperCase();
  const grows = bytesAt(50) - bytesAt(1) > 50;
  return [
    { what: `${shape}, state after 1 round`, unit: 'B', value: bytesAt(1) },
    { what: `${shape}, state after 50 rounds`, unit: 'B', value: bytesAt(50) },
    ...(grows
      ? [
          { what: `${shape}, bytes per answer`, unit: 'B', value: late(bytesAt) } as const,
          {
            what: `${shape}, bytes per answer, rounds 20–50 ÷ rounds 5–20`,
            unit: '×',
            value: late(bytesAt) / early(bytesAt),
            goal: { most: 1.1 },
          } as const,
        ]
      : []),
    ...ROUNDS.map(
      (rounds) =>
        ({
          what: `${shape}, time per request, ${rounds} rounds`,
          unit: 'µs',
          value: perRound(rounds),
        }) as const,
    ),
    {
      what: `${shape}, time per request, 50 rounds ÷ 5 rounds`,
      unit: '×',
      value: perRound(50) / perRound(5),
      noise,
    },
  ];
}

export const growth: Benchmark = {
  name: 'growth',
  title: 'Many rounds in one call',
  async run({ pace }) {
    const policy = requestStatePolicy({
      keys: ['a key of at least thirty-two bytes'],
      singleUse: false,
      maxRounds: 60,
    });
    const figures: Figure[] = [];
    const longer = { ...pace, rounds: Math.min(pace.rounds, 6), warmupMs: pace.warmupMs * 2 };
    for (const id of Object.keys(SHAPES)) figures.push(...(await ofShape(id, policy, longer)));
    const { replay, noise } = await replaySteps(pace);
    const what = 'J, replay of 20 steps ÷ hand-written guards with acceptedContent and zod';
    return { figures: [ratioFigure(what, replay, { most: 2 }, noise), ...figures], notes: [] };
  },
};
