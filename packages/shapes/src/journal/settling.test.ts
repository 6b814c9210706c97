/** The values, failures and refusals that a step settles with, and their size. */

import { ElicitationDeclined, elicitation, listRoots, NotJson } from '@mrtr/core';
import { settle } from '@mrtr/harness';
import { expect, test } from 'vitest';
import {
  accept,
  ada,
  cancel,
  countRuns,
  decline,
  kelvin,
  metric,
  Name,
  Site,
  Units,
} from '../fixture.test-support.ts';
import { EffectFailed, type JournalContext } from './index.ts';
import { answerAll, askName, askUnits, connectTo, journaling } from './journaling.test-support.ts';

const RETRY = { onFailure: 'retry' } as const;
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

test('a value that is not JSON is refused with its path, after its effect has happened', async () => {
  const errors: unknown[] = [];
  const when = countRuns(() => ({ at: new Date(0) }));
  const client = await connectTo(async (ctx) => {
    await ctx.once('when', when).catch((error: unknown) => errors.push(error));
    return askUnits(ctx);
  });
  expect(await answerAll(client, { units: metric })).toEqual({ says: '{"units":"metric"}' });
  const message =
    "The value of once('when') is kept between rounds and must be JSON; $.at is not. Convert it first.";
  expect(errors).toEqual([new NotJson(message), new EffectFailed(['NotJson', message])]);
  expect(when.runs).toBe(1);
});

// Failures

test('with `retry`, a failing effect runs in each round until it succeeds, also if later steps are recorded', async () => {
  const reads: unknown[] = [];
  const print = countRuns((run) => {
    if (run < 3) throw new Error(`Out of paper ${run}.`);
    return 'printed';
  });
  const mail = countRuns(() => 'sent');
  const client = await connectTo(async (ctx) => {
    reads.push(await ctx.once('print', print, RETRY).catch(describeError));
    return [await ctx.once('mail', mail), await askUnits(ctx), await askName(ctx)];
  });
  expect(await answerAll(client, { units: metric }, { name: kelvin }, { name: ada })).toEqual({
    says: '["sent",{"units":"metric"},{"name":"Ada"}]',
  });
  expect(reads).toEqual(['Error: Out of paper 1.', 'Error: Out of paper 2.', 'printed', 'printed']);
  expect([print.runs, mail.runs]).toEqual([3, 1]);
});

test('an effect that is retried delays no recorded step beside it, and ends no round', async () => {
  const slow = countRuns(async (run) => {
    await settle(5);
    if (run === 1) throw new Error('Not yet.');
    return 'done';
  });
  const client = await connectTo((ctx) =>
    Promise.all([
      (async () => [
        await ctx.once('slow', slow, RETRY).catch(describeError),
        await ctx.once('after', () => 'after'),
      ])(),
      (async () => {
        for (let step = 0; step < 9; step++) await ctx.once(`step ${step}`, () => step);
        return [await askUnits(ctx), await ctx.once('last', () => 'last')];
      })(),
    ]),
  );
  expect(await answerAll(client, { units: metric })).toEqual({
    says: '[["done","after"],[{"units":"metric"},"last"]]',
  });
  expect(slow.runs).toBe(2);
});

test('an answer beside an effect that is retried is read in its round, and not asked for again', async () => {
  const flaky = countRuns((run) => (run === 1 ? Promise.reject(new Error('Not yet.')) : run));
  const client = await connectTo((ctx) =>
    Promise.all([
      (async () => {
        await ctx.once('flaky', flaky, RETRY).then(() => ctx.now('succeeded'), describeError);
        return [await askUnits(ctx), await ctx.ask('next', elicitation('Which next name?', Name))];
      })(),
      (async () => {
        for (let step = 0; step < 9; step++) await ctx.once(`step ${step}`, () => step);
        return askName(ctx);
      })(),
    ]),
  );
  const second = await answerAll(client, { units: metric, name: ada });
  expect(second.asks).toEqual({ next: 'Which next name?' });
});

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

test('a thrown value that is not an error is recorded as text', async () => {
  const errors: unknown[] = [];
  const client = await connectTo(async (ctx) => {
    const odd = ctx.once('odd', () => Promise.reject('odd'));
    await odd.catch((error: unknown) => errors.push(error));
    return askUnits(ctx);
  });
  await answerAll(client, { units: metric });
  expect(errors.map(describeError)).toEqual(['Error: odd', 'Error: odd']);
});

// Refusals

test.each([
  ['declined', decline],
  ['cancelled', cancel],
] as const)('a question that was %s throws in the handler, in every round', async (kind, response) => {
  const caught: unknown[] = [];
  const client = await connectTo(async (ctx) => {
    await askUnits(ctx).catch((error: unknown) => caught.push(error));
    return askName(ctx);
  });
  expect(await answerAll(client, { units: response }, { name: kelvin }, { name: ada })).toEqual({
    says: '{"name":"Ada"}',
  });
  const declined = new ElicitationDeclined(kind, 'units');
  expect(caught).toEqual([declined, declined, declined]);
});

test('a refusal ends the call beside a branch that has many more steps to replay', async () => {
  const client = await connectTo((ctx) =>
    Promise.all([
      askUnits(ctx),
      (async () => {
        for (let step = 0; step < 20; step++) await ctx.once(`step ${step}`, () => step);
        await askName(ctx);
      })(),
    ]),
  );
  expect(await answerAll(client, { units: decline, name: ada })).toEqual({
    says: "Cancelled: the question 'units' was not answered.",
  });
});

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

const interview = (count: number, bytes = 0) =>
  journaling(async (ctx) => {
    for (let at = 1; at <= count; at++) {
      await ctx.once(`effect-${at}`, () => '.'.repeat(bytes));
      await ctx.ask(`name-${at}`, elicitation('Which name?', Name));
    }
  });

test('equal rounds add equally many bytes to the state', async () => {
  const client = await new Site(interview(10, 60)).connect();
  const lengths: number[] = [];
  let seen = await client.send();
  for (let round = 1; round <= 9; round++) {
    lengths.push(seen.state?.length ?? 0);
    seen = await client.answer(seen, {
      [`name-${round}`]: accept({ name: 'Grace', junk: '.'.repeat(5000) }),
    });
  }
  const [first = 0, fifth = 0, ninth = 0] = [lengths[0], lengths[4], lengths[8]];
  const perRound = (fifth - first) / 4;
  // An effect, a question and an answer, in base64; and nothing of the junk.
  expect([perRound > 150, perRound < 300]).toEqual([true, true]);
  expect(Math.abs(ninth - fifth - (fifth - first))).toBeLessThanOrEqual(4);
});

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
