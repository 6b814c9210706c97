/** `ctx.run` of shape H in memory: what a durable store records, and here only happens once. */
import { ContinuationLost, NotJson, textResult } from '@mrtr/core';
import { expect, test } from 'vitest';
import { Gate, metric, turns, Units, units } from '../fixture.test-support.ts';
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

test('what an effect left behind asks like anybody else, whoever else is in an effect', async () => {
  const [first, second] = [new Gate(), new Gate()];
  const { site } = parking(async ({ n }, ctx) => {
    if (n === 1) return textResult(await ctx.run('slow', () => second.promise.then(() => 'slow')));
    let later: Promise<string> = Promise.resolve('');
    await ctx.run('start', () => {
      later = first.promise.then(async () => (await ctx.elicit('Which units?', Units)).units);
    });
    return textResult(await later);
  });
  const client = await site.connect();
  const asked = client.send();
  const other = client.send({ arguments: { n: 1 } });
  await turns();
  first.open();
  expect(await client.answer(await asked, { units: metric })).toEqual({ says: 'metric' });
  second.open();
  expect(await other).toEqual({ says: 'slow' });
});

test('an author may take the functions out of the context', async () => {
  const { site } = parking(async (_args, { elicit, run, canAsk, idempotencyKey }) => {
    const { units } = await elicit('Which units?', Units);
    const key = await run('key', () => idempotencyKey('key'));
    return textResult(`${units}, ${canAsk('elicitation')}, ${key === idempotencyKey('key')}`);
  });
  const client = await site.connect();
  expect(await client.answer(await client.send(), { units: metric })).toEqual({ says: 'metric, true, true' });
});

test('a question that cannot be sent rejects where it was asked, and the process lives', async () => {
  const broken = {
    ...units,
    get request(): never {
      throw new Error('No such form.');
    },
  };
  const { site, store } = parking(async (_args, ctx) => {
    await ctx.ask({ broken }).catch((error: Error) => Promise.reject(new Error(`Caught: ${error.message}`)));
    return textResult('done');
  });
  expect(await (await site.connect()).send()).toEqual({ fails: 'Caught: No such form.' });
  expect(store.parked).toBe(0);
});
