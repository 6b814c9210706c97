/** The values, failures and refusals that a step settles with, and their size. */

import { elicitation, listRoots } from '@mrtr/core';
import { settle } from '@mrtr/harness';
import { expect, test } from 'vitest';
import { countRuns, decline, kelvin, metric, Site, Units } from '../fixture.test-support.ts';
import { EffectFailed, type JournalContext } from './index.ts';
import { answerAll, askName, askUnits, connectTo, journaling } from './journaling.test-support.ts';

const describeError = (error: unknown) => `${(error as Error).name}: ${(error as Error).message}`;

// Values

test.each([[{}], [{ strict: true }]])(
  'a handler’s changes to a value are made again in each round and never reach the record (%j)',
  async (options) => {
    const handler = async (ctx: JournalContext) => {
      const basket = await ctx.once('basket', () => ['apple']);
      basket.push('pear');
      const { roots } = await ctx.ask('roots', listRoots());
      roots.push({ uri: 'file:///more' });
      await askUnits(ctx);
      return [...basket, ...roots.map(({ uri }) => uri)];
    };
    const client = await new Site(journaling(handler, options)).connect(undefined, {
      elicitation: {},
      roots: {},
    });
    const roots = { roots: [{ uri: 'file:///home' }] };
    expect(await answerAll(client, { roots }, { units: kelvin }, { units: metric })).toEqual({
      says: '["apple","pear","file:///home","file:///more"]',
    });
  },
);

// Failures

test('a failure is the same in every round, and its effect does not run again', async () => {
  const errors: unknown[] = [];
  const cause = new RangeError('No such card.');
  const charge = countRuns(() => Promise.reject(cause));
  const client = await connectTo(async (ctx) => {
    await ctx.once('charge', charge).catch((error: unknown) => errors.push(error));
    await ctx.once('apologise', () => 'sorry');
    return askUnits(ctx);
  });
  expect(await answerAll(client, { units: kelvin }, { units: metric })).toEqual({
    says: '{"units":"metric"}',
  });
  expect(errors.map(describeError)).toEqual(Array(3).fill('RangeError: No such card.'));
  expect(errors.every((error) => error instanceof EffectFailed)).toBe(true);
  expect(errors.map((error) => (error as Error).cause)).toEqual([cause, undefined, undefined]);
  expect(charge.runs).toBe(1);
});

// Refusals

test('refusals and failures that are not awaited yet cause no unhandled rejection', async () => {
  const client = await connectTo(async (ctx) => {
    const failing = ctx.once('fail', () => Promise.reject(new Error('Too bad.')));
    const [units, name] = [askUnits(ctx), askName(ctx)];
    await units;
    return [await name, await failing];
  });
  expect(await answerAll(client, { units: decline, name: decline })).toEqual({
    says: "Cancelled: the question 'units' was not answered.",
  });
  await settle();
});

// Slips of the author

test('two steps of one key are refused, of the same kind or of two', async () => {
  const second = countRuns(() => 1);
  for (const again of [
    (ctx: JournalContext) => ctx.once('key', second),
    (ctx: JournalContext) => ctx.ask('key', elicitation('Which units?', Units)),
    async (ctx: JournalContext) => ctx.now('key'),
  ]) {
    const client = await connectTo(async (ctx) => [await ctx.once('key', () => 1), await again(ctx)]);
    expect(await client.send()).toEqual({
      fails: "Two steps of one call have the key 'key'. They are kept by key: rename one.",
    });
  }
  expect(second.runs).toBe(0);
});

test('a step inside an effect is refused at once, because a later round would not reach it', async () => {
  for (const inner of [
    (ctx: JournalContext) => ctx.once('inner', () => 1),
    (ctx: JournalContext) => ctx.ask('inner', elicitation('Which units?', Units)),
    async (ctx: JournalContext) => ctx.now('inner'),
  ]) {
    const client = await connectTo((ctx) => ctx.once('outer', async () => JSON.stringify(await inner(ctx))));
    expect(await client.send()).toEqual({
      fails:
        "The step 'inner' is inside of a once, which later rounds do not enter. Take it before, and use its value.",
    });
  }
});

test('an effect may call a journaled tool of another server', async () => {
  const other = await connectTo(async (ctx) => [await ctx.once('inner', () => 1), ctx.now('then') > 0]);
  const client = await connectTo((ctx) => ctx.once('outer', () => other.call()));
  expect(await client.send()).toEqual({ says: '{"says":"[1,true]"}' });
});

// Limits

test('a journal over the limit ends the call, and the error names the largest steps', async () => {
  const sizes = { tiny: 10, huge: 700, large: 500, medium: 300, small: 100 };
  const handler = async (ctx: JournalContext) => {
    for (const [key, size] of Object.entries(sizes)) await ctx.once(key, () => '.'.repeat(size));
    await askUnits(ctx);
  };
  const send = async (maxBytes: number) =>
    (await new Site(journaling(handler), { maxBytes }).connect()).send();
  const bytes = (await send(4096)).state?.length ?? 0;
  expect((await send(bytes)).state).toHaveLength(bytes);
  expect(await send(bytes - 1)).toEqual({
    fails:
      `requestState would be ${bytes} bytes sealed; the policy allows ${bytes - 1}. The largest steps are ` +
      "'huge' (722 bytes), 'large' (523 bytes), 'medium' (324 bytes). " +
      'Keep large values outside of the call and record a reference, or raise maxBytes.',
  });
});
