/** Shapes whose callback is called by code of the author. Only a registered shape knows that no such code ran. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { ask, elicitation, MemoryLedger, type ServerContext, textResult } from '@mrtr/core';
import { type SdkCallback, shapeCallback } from '@mrtr/core/shape';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  type Args,
  accept,
  countRuns,
  type RoundSummary,
  TestDeployment,
  tool,
} from '../fixture.test-support.ts';
import { journal } from '../journal/journal.ts';
import { ContinuationStore, linear } from '../linear/index.ts';
import { once } from '../once/once.ts';

const sure = elicitation('Pay?', z.object({ sure: z.boolean() }));
const yes = { sure: accept({ sure: true }) };

type Shape = SdkCallback<Args, CallToolResult>;

/** Wraps `shape`, and calls `meter` before it. */
const WRAPPERS: Readonly<Record<string, (shape: Shape, meter: () => void) => Shape>> = {
  'a function': wrap,
  'a function with the members of the shape': (shape, meter) => Object.assign(wrap(shape, meter), shape),
  'a proxy': (shape, meter) =>
    new Proxy(shape, { apply: (_, __, args) => wrap(shape, meter)(...(args as [never])) }),
  'another shape': (shape, meter) => {
    const handler = wrap(shape, meter) as (input: Args, ctx: ServerContext) => Promise<CallToolResult>;
    return shapeCallback('another', (input: Args, ctx) => handler(input, ctx));
  },
};

function wrap(shape: Shape, meter: () => void): Shape {
  const wrapped = (...args: [never]) => {
    meter();
    return shape(...args);
  };
  return wrapped as Shape;
}

function linearHere(): Shape {
  const store = new ContinuationStore();
  onTestFinished(() => store.close());
  return linear(
    async (_: Args, ctx) => {
      await ctx.ask('sure', sure);
      return textResult('Paid.');
    },
    { store },
  );
}

const journaled = (): Shape =>
  journal(
    async (_: Args, ctx) => {
      await ctx.ask('sure', sure);
      return textResult('Paid.');
    },
    { asks: ['elicitation'] },
  );

/** Retries that a shape rejects before it enters its handler: the shape before the deploy, and after it. */
const REJECTED: Readonly<
  Record<string, readonly [before: () => Shape, after: () => Shape, capabilities?: object]>
> = {
  'a client that cannot be asked': [journaled, journaled, {}],
  'state of another shape': [journaled, () => once(() => textResult('Paid.'))],
  'a continuation on another instance': [linearHere, linearHere],
};

test.each(
  Object.keys(WRAPPERS).flatMap((wrapper) =>
    Object.keys(REJECTED).map((rejected) => [wrapper, rejected] as const),
  ),
)('%s runs once for one token, whose shape rejects %s', async (wrapper, rejected) => {
  const [before, after, capabilities] = REJECTED[rejected] as (typeof REJECTED)[string];
  const meter = countRuns(() => {});
  const wrapped = (shape: Shape) => tool((WRAPPERS[wrapper] as (typeof WRAPPERS)[string])(shape, meter));
  const first = before();
  const site = new TestDeployment(wrapped(first), { singleUse: 'replay', ledger: new MemoryLedger() });
  const asked = await (await site.connect()).send();
  expect(asked.asks).toEqual({ sure: 'Pay?' });
  const deployed = after();
  site.deploy(wrapped(deployed));
  const rejecting = await site.connect(undefined, capabilities);
  const outcomes: RoundSummary[] = [];
  for (let retry = 0; retry < 3; retry++) outcomes.push(await rejecting.answer(asked, yes));
  expect(meter.runs).toBe(2);
  expect(outcomes.filter(({ says }) => says === 'Paid.')).toEqual([]);
  // The honest retry gets the recorded outcome too.
  site.deploy(wrapped(first));
  expect(await (await site.connect()).answer(asked, yes)).not.toHaveProperty('says', 'Paid.');
  expect(meter.runs).toBe(2);
});

test.each(Object.keys(REJECTED))(
  'a token that a registered shape rejects before its handler is not used up: %s',
  async (rejected) => {
    const [before, after, capabilities] = REJECTED[rejected] as (typeof REJECTED)[string];
    const first = before();
    const site = new TestDeployment(tool(first), { singleUse: 'replay', ledger: new MemoryLedger() });
    const asked = await (await site.connect()).send();
    site.deploy(tool(after()));
    expect(await (await site.connect(undefined, capabilities)).answer(asked, yes)).not.toHaveProperty('says');
    site.deploy(tool(first));
    expect(await (await site.connect()).answer(asked, yes)).toEqual({ says: 'Paid.' });
  },
);

test('a handler that has run before it calls a shape runs once for one token, also inside of a shape', async () => {
  const meter = countRuns(() => {});
  const inner = journaled();
  const outer = once(async (input: Args, ctx) => {
    meter();
    return ctx.answer('sure', sure).kind === 'accepted' ? inner(input, ctx.request) : ask({ sure });
  });
  const client = await new TestDeployment(tool(outer), {
    singleUse: 'replay',
    ledger: new MemoryLedger(),
  }).connect();
  const asked = await client.send();
  for (let retry = 0; retry < 3; retry++) {
    // The journal rejects the state of the other shape.
    expect(await client.answer(asked, yes)).toHaveProperty('rejects');
  }
  expect(meter.runs).toBe(2);
});
