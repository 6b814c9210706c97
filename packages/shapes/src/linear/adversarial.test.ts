/** Shape H when events happen in an unlucky order. */

import { ElicitationDeclined, elicitation, textResult } from '@mrtr/core';
import { Deferred, settle } from '@mrtr/harness/internal';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  accept,
  ada,
  countRuns,
  decline,
  kelvin,
  metric,
  Name,
  name,
  requestOf,
  Units,
  units,
} from '../fixture.test-support.ts';
import { ContinuationStore, linear } from './index.ts';
import { ContinuationLost } from './messages.ts';
import { LOST, parking, startRound } from './parking.test-support.ts';

const UNITS = { units: 'Which units?' };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(async () => {
  vi.useRealTimers();
  // Vitest fails on a rejection that nobody handles. It comes a turn later.
  await settle(3);
});

// Time runs out, or the store is closed, at the wrong moment

test('a call that was resumed in time does not expire while its handler works', async () => {
  const gate = new Deferred();
  const aborted = countRuns(() => {});
  const { client, store } = await parking(
    async (_args, ctx) => {
      ctx.signal.addEventListener('abort', aborted);
      const { units } = await ctx.elicit('Which units?', Units);
      await gate.promise;
      return textResult(units);
    },
    { ttlSeconds: 30 },
  );
  const resuming = client.answer(await client.send(), { units: metric });
  await settle();
  vi.advanceTimersByTime(31_000);
  gate.open();
  expect(await resuming).toEqual({ says: 'metric' });
  expect([aborted.runs, store.parked]).toEqual([0, 0]);
});

test.each([
  ['after its call was ended', { ttlSeconds: 60 }, { elicitation: {} }],
  ['of a client that cannot be asked', {}, {}],
])(
  'a handler that asks again and again %s does not starve the event loop',
  async (_when, options, capabilities) => {
    let stopped = false;
    const asks = countRuns(() => {});
    const { site } = await parking(async (_args, ctx) => {
      while (!stopped && asks.runs < 10_000) {
        asks();
        await ctx.elicit('Which units?', Units).catch(() => {});
      }
      return textResult('stopped');
    }, options);
    const asking = (await site.connect(undefined, capabilities)).send();
    await settle();
    vi.advanceTimersByTime(60_000);
    await settle();
    stopped = true;
    await asking;
    expect(asks.runs).toBeLessThan(100);
  },
);

test('a client that cancels while the handler works aborts it', async () => {
  const [store, client] = [new ContinuationStore({ limits: { frames: 1 } }), new AbortController()];
  const round = startRound(
    store,
    (_input, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    client,
  );
  client.abort();
  const error = new ContinuationLost('The client cancelled the call.');
  expect(await round).toEqual({ kind: 'threw', error });
  expect(await startRound(store, () => 'has room')).toEqual({ kind: 'returned', value: 'has room' });
});

test('an old client that cancels while its user is asked leaves no handler waiting', async () => {
  const reasons: unknown[] = [];
  const { site, store } = await parking(async (_args, ctx) => {
    ctx.signal.addEventListener('abort', () => reasons.push(ctx.signal.reason));
    await ctx.elicit('Which units?', Units);
    return textResult('done');
  });
  const cancelling = new AbortController();
  const client = await site.connectLegacy(() => {
    expect(store.parked).toBe(1);
    cancelling.abort();
    return metric;
  });
  expect(Object.keys(await client.call({ signal: cancelling.signal }))).toEqual(['rejects']);
  await settle();
  expect(reasons).toEqual([new ContinuationLost('The client cancelled the call.')]);
  expect(store.parked).toBe(0);
});

test('a call that was cancelled before it reached the store starts aborted', async () => {
  const store = new ContinuationStore();
  const callback = linear((_args: object, ctx) => textResult(String(ctx.signal.aborted)), { store });
  const { ctx } = requestOf({}, { signal: AbortSignal.abort(), requestState: () => undefined });
  expect(await callback({}, ctx)).toEqual(textResult('true'));
});

test('a call that asks too many questions at once leaves no handler waiting, and gives its room back at once', async () => {
  const events: string[] = [];
  const { client, store } = await parking(
    async (_args, ctx) => {
      try {
        await ctx.ask(Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`${at}`, name])));
      } finally {
        events.push(`finally: ${ctx.signal.reason.message}`);
      }
      return textResult('never');
    },
    { limits: { frames: 1 } },
  );
  const rejects = 'The server asks too many questions at once';
  for (const _ of [1, 2]) expect(await client.send()).toEqual({ rejects });
  await settle();
  expect([events, store.parked]).toEqual([Array(2).fill(`finally: ${rejects}`), 0]);
});

// Handlers that settle, fail or branch in unusual places

test('a handler that settles while it is parked keeps its result until it expires', async () => {
  const gate = new Deferred();
  const aborted = countRuns(() => {});
  const { client, store } = await parking(
    async (_args, ctx) => {
      ctx.signal.addEventListener('abort', aborted);
      await Promise.race([ctx.elicit('Which units?', Units), gate.promise]);
      return textResult('by default');
    },
    { limits: { frames: 2 }, ttlSeconds: 60 },
  );
  const asked = await client.send();
  await client.send();
  gate.open();
  await settle();
  expect(store.parked).toBe(2);
  expect(await client.answer(asked, {})).toEqual({ says: 'by default' });
  expect(await client.answer(asked, {})).toEqual(LOST);
  // Nobody fetches the other result, which gives its room back.
  vi.advanceTimersByTime(60_000);
  await settle();
  expect([aborted.runs, store.parked]).toEqual([0, 0]);
  for (const _ of [1, 2]) expect(await client.send()).toEqual({ says: 'by default' });
});

test('a branch that works while its sibling is parked asks in the next round', async () => {
  const gate = new Deferred();
  const { client } = await parking(async (_args, ctx) => {
    const late = gate.promise.then(() => ctx.elicit('Which name?', Name));
    const [first, second] = await Promise.all([ctx.elicit('Which units?', Units), late]);
    return textResult(`${first.units}, ${second.name}`);
  });
  const first = await client.send();
  expect(first.asks).toEqual(UNITS);
  gate.open();
  await settle();
  const second = await client.answer(first, { units: metric });
  expect(second.asks).toEqual({ name: 'Which name?' });
  expect(await client.answer(second, { name: ada })).toEqual({ says: 'metric, Ada' });
});

test('two declined questions, of which one is awaited, cause no unhandled rejection', async () => {
  const { client } = await parking(async (_args, ctx) => {
    const [first, second] = [ctx.elicit('Which units?', Units), ctx.elicit('Which name?', Name)];
    return textResult(`${(await first).units}, ${(await second).name}`);
  });
  const asked = await client.send();
  expect(await client.answer(asked, { units: decline, name: decline })).toEqual({
    says: "Cancelled: the question 'units' was not answered.",
  });
});

test('a declined ask withdraws its questions, which may be asked again, and no later one of the same key', async () => {
  const ready = elicitation('Ready?', z.object({ ready: z.boolean() }));
  const { client } = await parking(async (_args, ctx) => {
    const declined = ctx.ask({ name, units, ready }).catch((error: unknown) => error);
    await ctx.elicit('More?', z.object({ more: z.boolean() }));
    const other = ctx.elicit('Which other name?', Name);
    expect(await declined).toBeInstanceOf(ElicitationDeclined);
    return textResult(JSON.stringify([await ctx.ask({ ready }), await other]));
  });
  const first = await client.send();
  // `name` is answered, so its key is free for the next question while the others of its ask are open.
  const second = await client.answer(first, { name: ada, more: accept({ more: true }) });
  expect(second.asks).toEqual({ ...UNITS, ready: 'Ready?', name: 'Which other name?' });
  const third = await client.answer(second, { units: decline });
  expect(third.asks).toEqual({ name: 'Which other name?', ready: 'Ready?' });
  expect(await client.answer(third, { name: ada, ready: accept({ ready: true }) })).toEqual({
    says: '[{"ready":{"ready":true}},{"name":"Ada"}]',
  });
});

test('two asks of one key at once are rejected', async () => {
  const { site, store } = await parking(async (_args, ctx) => {
    await Promise.all([ctx.ask({ units }), ctx.ask({ name, units })]);
    return textResult('done');
  });
  expect(await (await site.connect()).send()).toEqual({ fails: "Two open questions have the key 'units'." });
  expect(store.parked).toBe(0);
});

test('a schema that throws fails its call, but neither the store nor the process', async () => {
  const Touchy = z.object({ units: z.string() }).refine(({ units }) => {
    if (units === 'kelvin') throw new Error('Too cold.');
    return true;
  });
  const { client, store } = await parking(
    async (_args, ctx) => textResult((await ctx.elicit('Which units?', Touchy)).units),
    { limits: { frames: 1 } },
  );
  // Zod tries a refinement that threw once more, asynchronously.
  expect(await client.answer(await client.send(), { units: kelvin })).toEqual({
    fails: expect.stringContaining('The schema of "Which units?" validates asynchronously;'),
  });
  expect(store.parked).toBe(0);
  expect(await client.answer(await client.send(), { units: metric })).toEqual({ says: 'metric' });
});
