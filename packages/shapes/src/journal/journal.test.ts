import { elicitation, listRoots } from '@mrtr/core';
import { Deferred, settle } from '@mrtr/harness';
import { expect, expectTypeOf, test } from 'vitest';
import { ada, countRuns, metric, name, Site, Units, units } from '../fixture.test-support.ts';
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
  const [one, other] = [new Deferred<string>(), new Deferred<string>()];
  const started: string[] = [];
  const effect = (gate: Deferred<string>, key: string) => () => {
    started.push(key);
    return gate.promise;
  };
  const client = await connectTo((ctx) =>
    Promise.all([ctx.once('one', effect(one, 'one')), ctx.once('other', effect(other, 'other'))]),
  );
  const call = client.send();
  await settle();
  expect(started).toEqual(['one', 'other']);
  other.open('second');
  one.open('first');
  expect(await call).toEqual({ says: '["first","second"]' });
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
  const site = new Site(
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
