/** `ctx.once` of shape H in memory. */

import { listRoots, textResult } from '@mrtr/core';
import { Deferred, settle } from '@mrtr/harness';
import { expect, test } from 'vitest';
import { metric, Units } from '../fixture.test-support.ts';
import type { LinearContext } from './index.ts';
import { ContinuationLost } from './messages.ts';
import { parking } from './parking.test-support.ts';

test.each<[what: string, inner: (ctx: LinearContext) => Promise<unknown>, why: string]>([
  ['a question', (ctx) => ctx.elicit('Which units?', Units), '"Which units?" is inside of a once'],
  [
    'a question that needs no answer',
    (ctx) => ctx.ask('roots', listRoots({ fallback: { roots: [] } })),
    '"roots/list" is inside of a once',
  ],
  ['a step', (ctx) => ctx.once('inner', () => 1), "The step 'inner' is inside of a once"],
])('%s inside a step is refused, also after an await', async (_what, inner, why) => {
  const { site, store } = parking(async (_args, ctx) => {
    await ctx.once('outer', async () => {
      await settle(1);
      await inner(ctx);
    });
    return textResult('done');
  });
  expect((await (await site.connect()).send()).fails).toContain(why);
  expect(store.parked).toBe(0);
});

test('a call that was ended takes no further step', async () => {
  const steps: string[] = [];
  const { site, store } = parking(async (_args, ctx) => {
    await ctx.elicit('Which units?', Units).catch(() => steps.push('ended'));
    await ctx.once('pay', () => steps.push('paid')).catch((error) => steps.push(error.constructor.name));
    return textResult('done');
  });
  await (await site.connect()).send();
  await store.close();
  expect(steps).toEqual(['ended', ContinuationLost.name]);
});

test('code that an effect left running may ask, also while another effect runs', async () => {
  const [first, second] = [new Deferred(), new Deferred()];
  const { site } = parking(async ({ n }, ctx) => {
    if (n === 1) return textResult(await ctx.once('slow', () => second.promise.then(() => 'slow')));
    let later: Promise<string> = Promise.resolve('');
    await ctx.once('start', () => {
      later = first.promise.then(async () => (await ctx.elicit('Which units?', Units)).units);
    });
    return textResult(await later);
  });
  const client = await site.connect();
  const asked = client.send();
  const other = client.send({ arguments: { n: 1 } });
  await settle();
  first.open();
  expect(await client.answer(await asked, { units: metric })).toEqual({ says: 'metric' });
  second.open();
  expect(await other).toEqual({ says: 'slow' });
});

test('an author may take the functions out of the context', async () => {
  const { site } = parking(async (_args, { elicit, once, canAsk, idempotencyKey }) => {
    const { units } = await elicit('Which units?', Units);
    const key = await once('key', () => idempotencyKey('key'));
    return textResult(`${units}, ${canAsk('elicitation')}, ${key === idempotencyKey('key')}`);
  });
  const client = await site.connect();
  expect(await client.answer(await client.send(), { units: metric })).toEqual({ says: 'metric, true, true' });
});
