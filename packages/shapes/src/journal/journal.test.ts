import { elicitation, listRoots } from '@mrtr/core';
import { Deferred, settle } from '@mrtr/harness/internal';
import { expect, expectTypeOf, test } from 'vitest';
import {
  ada,
  countRuns,
  decline,
  kelvin,
  metric,
  name,
  TestDeployment,
  Units,
  units,
} from '../fixture.test-support.ts';
import { EffectFailed, type JournalContext } from './index.ts';
import { answerAll, askName, askUnits, connectTo, journaling } from './journaling.test-support.ts';

const UNITS = { units: 'Which units?' };

// Replay

test('an answer has the type of its schema, and an effect has the type of its value', async () => {
  const client = await connectTo(async (ctx) => {
    expectTypeOf(await askUnits(ctx)).toEqualTypeOf<{ units: 'metric' | 'imperial' }>();
    expectTypeOf(await ctx.once('n', () => 1)).toEqualTypeOf<number>();
    expectTypeOf(await ctx.once('s', async () => 's')).toEqualTypeOf<string>();
    const both = await ctx.ask({ units, name });
    expectTypeOf(both).toEqualTypeOf<{ units: { units: 'metric' | 'imperial' }; name: { name: string } }>();
  });
  expect((await client.send()).asks).toEqual(UNITS);
});

test('times, random numbers and UUIDs are real, and every later round reads the same ones', async () => {
  const entries: unknown[][] = [];
  const client = await connectTo(async (ctx) => {
    const values = [ctx.now(), ctx.random(), ctx.uuid(), ctx.uuid(), ctx.now('later'), ctx.uuid('order')];
    entries.push(values);
    await askUnits(ctx);
    values.push(ctx.random());
    await askName(ctx);
  });
  const before = Date.now();
  await answerAll(client, { units: metric }, { name: ada });
  const [first = [], second = [], third] = entries;
  const time = expect.toSatisfy((now: number) => now >= before && now <= Date.now());
  const uuid = expect.stringMatching(/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/);
  const fraction = expect.toSatisfy((random: number) => random >= 0 && random < 1);
  expect(first).toEqual([time, fraction, uuid, uuid, time, uuid]);
  expect(new Set([first[2], first[3], first[5]]).size).toBe(3);
  expect(second).toEqual([...first, fraction]);
  expect(third).toEqual(second);
});

// Together

test('effects that are awaited together run at the same time', async () => {
  const [one, other] = [new Deferred(), new Deferred()];
  const client = await connectTo((ctx) =>
    Promise.all([
      ctx.once('one', () => {
        one.open();
        return other.promise.then(() => 'first');
      }),
      ctx.once('other', () => {
        other.open();
        return one.promise.then(() => 'second');
      }),
    ]),
  );
  expect(await client.send()).toEqual({ says: '["first","second"]' });
});

test('effects that a handler does not await still run after it returns, for no later round runs them', async () => {
  const runs: string[] = [];
  const client = await connectTo(async (ctx) => {
    void (async () => {
      for (const key of ['first', 'second']) await ctx.once(key, () => settle(1).then(() => runs.push(key)));
    })();
    return 'done';
  });
  expect(await client.send()).toEqual({ says: '"done"' });
  await settle();
  expect(runs).toEqual(['first', 'second']);
});

test('`fallback` is the answer in every round, with other steps recorded after it', async () => {
  const asked = elicitation('Which units?', Units, { fallback: { units: 'imperial' } });
  const mail = countRuns(() => 'sent');
  const site = new TestDeployment(
    journaling(async (ctx) => [
      await ctx.ask('units', asked),
      await ctx.once('mail', mail),
      await ctx.ask('roots', listRoots()),
    ]),
  );
  const client = await site.connect(undefined, { roots: {} });
  const roots = { roots: [{ uri: 'file:///home' }] };
  expect(await answerAll(client, { roots })).toEqual({
    says: JSON.stringify([{ units: 'imperial' }, 'sent', roots]),
  });
  expect(mail.runs).toBe(1);
});

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
    const client = await new TestDeployment(journaling(handler, options)).connect(undefined, {
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

test('the first failure of an effect has its cause', async () => {
  const errors: unknown[] = [];
  const cause = new RangeError('No such card.');
  const client = await connectTo(async (ctx) => {
    await ctx.once('charge', () => Promise.reject(cause)).catch((error: unknown) => errors.push(error));
    return askUnits(ctx);
  });
  await answerAll(client, { units: metric });
  expect(errors).toEqual([expect.any(EffectFailed), expect.any(EffectFailed)]);
  expect(errors.map((error) => (error as Error).cause)).toEqual([cause, undefined]);
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

test('a step inside an effect is rejected at once, because a later round would not reach it', async () => {
  const client = await connectTo((ctx) => ctx.once('outer', async () => `${ctx.now('inner')}`));
  expect(await client.send()).toEqual({
    fails:
      "The step 'inner' is inside of a once, which later rounds do not enter. Take it before, and use its value.",
  });
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
  const send = async (stateBytes: number) =>
    (await new TestDeployment(journaling(handler), { limits: { stateBytes } }).connect()).send();
  const bytes = (await send(4096)).state?.length ?? 0;
  expect((await send(bytes)).state).toHaveLength(bytes);
  expect(await send(bytes - 1)).toEqual({
    fails:
      `requestState would be ${bytes} bytes sealed; the policy allows ${bytes - 1}. The largest steps are ` +
      "'huge' (722 bytes), 'large' (523 bytes), 'medium' (324 bytes). " +
      'Keep large values outside of the call and record a reference, or raise limits.stateBytes.',
  });
});
