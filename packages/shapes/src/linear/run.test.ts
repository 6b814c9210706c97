/** `ctx.run` of shape H in memory: what a durable store records, and here only happens once. */
import { ContinuationLost, NotJson, textResult } from '@mrtr/core';
import { expect, test } from 'vitest';
import { Gate, metric, turns, Units } from '../fixture.test-support.ts';
import type { LinearContext } from '../linear.ts';
import { parking } from './parking.test-support.ts';

test('a step gives its value to its handler, as a record would give it back', async () => {
  const made = { list: [1] };
  const { site } = parking(async (_args, ctx) => {
    const got = await ctx.run('make', () => made);
    got.list.push(2);
    const nothing = await ctx.run('nothing', async () => undefined);
    return textResult(JSON.stringify([got, made, nothing ?? 'nothing']));
  });
  expect(await (await site.connect()).send()).toEqual({ says: '[{"list":[1,2]},{"list":[1]},"nothing"]' });
});

test.each<[what: string, step: () => unknown, fails: RegExp]>([
  ['throws', () => Promise.reject(new Error('No paper.')), /^No paper\.$/],
  [
    'throws at once',
    () => {
      throw new Error('No ink.');
    },
    /^No ink\.$/,
  ],
  ['gives what no record holds', () => new Map(), /^The value of run\('step'\) .* must be JSON/],
])('a step that %s rejects, and its handler may go on', async (_what, step, fails) => {
  const { site } = parking(async (_args, ctx) => {
    const error: unknown = await ctx.run('step', step).catch((error: unknown) => error);
    return textResult(`${error instanceof NotJson || error instanceof Error ? error.message : ''}`);
  });
  expect((await (await site.connect()).send()).says).toMatch(fails);
});

test('two steps of one key are refused, whichever is first', async () => {
  const { site } = parking(async (_args, ctx) => {
    await ctx.run('pay', () => 1);
    return textResult(String(await ctx.run('pay', () => 2)));
  });
  expect(await (await site.connect()).send()).toEqual({
    fails: "Two steps of one call have the key 'pay'. Steps are kept by key: rename one.",
  });
});

test.each<[what: string, inner: (ctx: LinearContext) => Promise<unknown>, why: string]>([
  ['a question', (ctx) => ctx.elicit('Which units?', Units), '"Which units?" is inside of a run'],
  ['a step', (ctx) => ctx.run('inner', () => 1), "The step 'inner' is inside of a run"],
])('%s inside of a step is refused, also behind an await', async (_what, inner, why) => {
  const { site, store } = parking(async (_args, ctx) => {
    await ctx.run('outer', async () => {
      await turns(1);
      await inner(ctx);
    });
    return textResult('done');
  });
  expect((await (await site.connect()).send()).fails).toContain(why);
  expect(store.parked).toBe(0);
});

test('a round waits for the steps that run beside its question', async () => {
  const gate = new Gate();
  const { site } = parking(async (_args, ctx) => {
    const [{ units }, paid] = await Promise.all([
      ctx.elicit('Which units?', Units),
      ctx.run('pay', () => gate.promise.then(() => 'paid')),
    ]);
    return textResult(`${units}, ${paid}`);
  });
  const client = await site.connect();
  let asked = false;
  const first = client.send().finally(() => {
    asked = true;
  });
  await turns();
  expect(asked).toBe(false);
  gate.open();
  expect(await client.answer(await first, { units: metric })).toEqual({ says: 'metric, paid' });
});

test('a call that was given up takes no further step', async () => {
  const steps: string[] = [];
  const { site, store } = parking(async (_args, ctx) => {
    await ctx.elicit('Which units?', Units).catch(() => steps.push('given up'));
    await ctx.run('pay', () => steps.push('paid')).catch((error) => steps.push(error.constructor.name));
    return textResult('done');
  });
  await (await site.connect()).send();
  await store.close();
  expect(steps).toEqual(['given up', ContinuationLost.name]);
});
