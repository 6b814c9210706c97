import { elicitation, listRoots } from '@mrtr/core';
import { observe } from '@mrtr/core/events';
import { Deferred, settle } from '@mrtr/harness';
import { expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { ada, countRuns, decline, metric, name, Site, Units, units } from '../fixture.test-support.ts';
import type { JournalContext } from './index.ts';
import { answerAll, askName, askUnits, connectTo, journaling } from './journaling.test-support.ts';

const UNITS = { units: 'Which units?' };
const NAME = { name: 'Which name?' };

// Replay

test('a finished step returns its record in every later round, and only new steps execute', async () => {
  const runs: string[] = [];
  const entries: unknown[][] = [];
  const client = await connectTo(async (ctx) => {
    const seen: unknown[] = [];
    entries.push(seen);
    seen.push(await ctx.once('first', () => runs.push('first')));
    seen.push(await askUnits(ctx));
    seen.push(await ctx.once('second', () => runs.push('second')));
    seen.push(await askName(ctx));
    return seen;
  });
  const first = await client.send();
  const second = await client.answer(first, { units: metric });
  const last = await client.answer(second, { name: ada });
  expect([first.asks, second.asks, last]).toEqual([
    UNITS,
    NAME,
    { says: '[1,{"units":"metric"},2,{"name":"Ada"}]' },
  ]);
  expect(entries).toEqual([[1], [1, { units: 'metric' }, 2], [1, { units: 'metric' }, 2, { name: 'Ada' }]]);
  expect(runs).toEqual(['first', 'second']);
});

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

test('questions that are awaited together go out in one round, like the questions of one ask', async () => {
  for (const handler of [
    (ctx: JournalContext) => Promise.all([askUnits(ctx), askName(ctx)]),
    async (ctx: JournalContext) => Object.values(await ctx.ask({ units, name })),
  ]) {
    const client = await connectTo(handler);
    const asked = await client.send();
    expect(asked.asks).toEqual({ ...UNITS, ...NAME });
    expect(await client.answer(asked, { units: metric, name: ada })).toEqual({
      says: '[{"units":"metric"},{"name":"Ada"}]',
    });
  }
});

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

test('an observer sees entries, questions, and whether each effect ran or was held back', async () => {
  const events: unknown[] = [];
  for (const name of ['mrtr:handler', 'mrtr:ask', 'mrtr:effect'] as const) {
    onTestFinished(observe(name, (event) => events.push(event)));
  }
  const client = await connectTo(async (ctx) => [await ctx.once('mail', () => 1), await askUnits(ctx)]);
  await answerAll(client, { units: decline });
  const of = { call: expect.any(String), target: 'tool' };
  const entered = { ...of, shape: 'journal', part: 'handler' };
  const mail = { call: expect.any(String), shape: 'journal', key: 'mail' };
  expect(events).toEqual([
    entered,
    { ...mail, phase: 'ran' },
    { ...of, keys: ['units'], live: false },
    entered,
    { ...mail, phase: 'held' },
  ]);
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

test('a value that an earlier version recorded is taken over by a schema, or nothing more executes', async () => {
  const site = new Site(journaling((ctx) => ctx.once('ticket', () => 'ticket 1').then(() => askUnits(ctx))));
  const client = await site.connect();
  const asked = await client.send();
  const Ticket = z.object({ id: z.string() });
  const [open, next] = [countRuns(() => ({ id: 'ticket 2' })), countRuns(() => 'next')];
  const taking = (schema: z.ZodType) =>
    journaling(async (ctx) => {
      const ticket = await ctx.once('ticket', open as () => unknown, { schema }).catch(() => 'swallowed');
      await askUnits(ctx);
      await ctx.once('next', next);
      return ticket;
    });
  site.deploy(taking(Ticket));
  expect((await client.answer(asked, { units: metric })).rejects).toMatch(/Invalid or expired requestState/);
  expect([open.runs, next.runs]).toEqual([0, 0]);
  site.deploy(taking(z.union([Ticket, z.string().transform((id) => ({ id }))])));
  expect(await client.answer(asked, { units: metric })).toEqual({ says: '{"id":"ticket 1"}' });
  expect([open.runs, next.runs]).toEqual([0, 1]);
});
