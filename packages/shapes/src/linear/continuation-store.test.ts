import { textResult } from '@mrtr/core';
import { Deferred, settle } from '@mrtr/harness/internal';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import {
  countRuns,
  metric,
  Name,
  name,
  type RoundSummary,
  TestDeployment,
  tool,
  Units,
} from '../fixture.test-support.ts';
import { ContinuationStore, linear } from './index.ts';
import { type Handler, LOST, parking, startRound } from './parking.test-support.ts';

const CLOSED: RoundSummary = { fails: 'The server is shutting down, and the call was ended.' };
const HOUR = 3_600_000;

beforeEach(() => {
  // Not setImmediate: frames and the SDK need it to run.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Asks for units, then for a name, and records how it ends. */
function interview(): { readonly handler: Handler; readonly events: string[] } {
  const events: string[] = [];
  const handler: Handler = async (_args, ctx) => {
    ctx.signal.addEventListener('abort', () => events.push(`signal: ${ctx.signal.reason.message}`));
    try {
      await ctx.elicit('Which units?', Units);
      await ctx.elicit('Which name?', Name);
      return textResult('done');
    } catch (error) {
      events.push(`thrown: ${(error as Error).message}`);
      throw error;
    } finally {
      events.push('finally');
    }
  };
  return { handler, events };
}

/** Parks a handler that waits for an answer, without a server around it. */
const park = (store: ContinuationStore, client?: AbortController) =>
  startRound(store, (_input, ctx) => ctx.ask({ name }), client);

// Time

test('a parked handler that expires is aborted: its signal fires, its finally blocks run', async () => {
  const { handler, events } = interview();
  const { client, store } = await parking(handler, { ttlSeconds: 60 });
  const asked = await client.send();
  vi.advanceTimersByTime(59_999);
  expect([store.parked, events]).toEqual([1, []]);
  vi.advanceTimersByTime(1);
  expect(store.parked).toBe(0);
  await settle();
  const why = 'Nobody answered in time, and the call was ended.';
  expect(events).toEqual([`signal: ${why}`, `thrown: ${why}`, 'finally']);
  expect(await client.answer(asked, { units: metric })).toEqual(LOST);
});

test('an expired continuation is rejected even before the timer removes it', async () => {
  const { handler } = interview();
  const { client, store } = await parking(handler, { ttlSeconds: 60 });
  const asked = await client.send();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
  onTestFinished(() => clock.mockRestore());
  expect(await client.answer(asked, { units: metric })).toEqual(LOST);
  expect(store.parked).toBe(1);
});

test('many handlers that expire together are aborted in portions', async () => {
  const store = new ContinuationStore({ ttlSeconds: 60 });
  for (let n = 0; n < 2500; n++) await park(store);
  const left: number[] = [];
  while (store.parked > 0) {
    vi.advanceTimersToNextTimer();
    left.push(store.parked);
  }
  const portions = left.map((now, at) => (left[at - 1] ?? 2500) - now);
  expect(new Set(portions)).toEqual(new Set([50]));
});

test('a time to live may be longer than one timer can wait', async () => {
  const store = new ContinuationStore({ ttlSeconds: 60 * 24 * 3600 });
  const start = Date.now();
  await park(store);
  vi.advanceTimersToNextTimer();
  expect([store.parked, Date.now() - start]).toEqual([1, 2 ** 31 - 1]);
  for (let wait = 0; wait < 2; wait++) vi.advanceTimersToNextTimer();
  expect([store.parked, Date.now() - start]).toEqual([0, 60 * 24 * HOUR]);
});

test('of two handlers that one request parks, the first is ended', async () => {
  const store = new ContinuationStore({ limits: { frames: 2, perPrincipal: 1 } });
  const ended: string[] = [];
  const ask = (who: string) =>
    startRound(store, (_input, ctx) => ctx.ask({ name }).finally(() => void ended.push(who)), undefined, {
      id: 'one call',
    });
  await ask('first');
  await ask('second');
  await settle();
  expect([store.parked, ended]).toEqual([1, ['first']]);
  expect((await park(store)).kind).toBe('asked');
  await store.close();
});

// Room

test('a call that runs takes room too, and a full store rejects another before anything of it runs', async () => {
  const gate = new Deferred();
  const entered = countRuns(() => gate.promise.then(() => textResult('done')));
  const { client } = await parking(entered, { limits: { frames: 1 } });
  const running = client.send();
  await expect.poll(() => entered.runs).toBe(1);
  expect(await client.send()).toEqual({
    fails:
      'This server has too many unanswered calls open. Answer or cancel one of them, or try again later. ' +
      'Nothing of this call has run.',
  });
  gate.open();
  expect(await running).toEqual({ says: 'done' });
  expect(await client.send()).toEqual({ says: 'done' });
  expect(entered.runs).toBe(2);
});

// Closing

test('close aborts parked and running handlers, waits for their finally blocks, and rejects later calls', async () => {
  const [started, cleaned] = [new Deferred(), new Deferred()];
  const events: string[] = [];
  const { client, store } = await parking(async ({ n }, ctx) => {
    try {
      if (n === 1) {
        started.open();
        await new Promise((_resolve, reject) => {
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
        });
      }
      await ctx.elicit('Which units?', Units);
      return textResult('done');
    } finally {
      await cleaned.promise;
      events.push(n === 1 ? 'running' : 'parked');
    }
  });
  const before = vi.getTimerCount();
  const asked = await client.send();
  const running = client.send({ arguments: { n: 1 } });
  await started.promise;
  const closing = store.close().then(() => events.push('closed'));
  expect([store.parked, vi.getTimerCount() - before]).toEqual([0, 1]);
  await settle();
  expect(events).toEqual([]);
  cleaned.open();
  await closing;
  expect(events).toEqual(['running', 'parked', 'closed']);
  expect(await running).toEqual(CLOSED);
  expect(await client.answer(asked, { units: metric })).toEqual(LOST);
  expect(await client.send()).toEqual({
    fails: 'This server is shutting down and takes no new calls of this kind.',
  });
  await store.close();
  expect([store.parked, vi.getTimerCount() - before]).toEqual([0, 0]);
});

test('a call that is cancelled between the end of its round and its parking is not parked', async () => {
  const store = new ContinuationStore();
  const controller = new AbortController();
  const parked = park(store, controller);
  // After the tick in which the round ends, and before any code that waits for it.
  queueMicrotask(() => process.nextTick(() => controller.abort()));
  await expect(parked).rejects.toThrow('The client cancelled the call.');
  expect(store.parked).toBe(0);
});

test('a store that is closed while it parks a handler does not keep it', async () => {
  const { handler, events } = interview();
  const store: ContinuationStore = new ContinuationStore({ locate: () => void store.close() });
  const client = await new TestDeployment(tool(linear(handler, { store }))).connect();
  expect(await client.send()).toEqual(CLOSED);
  await settle();
  expect([store.parked, events.at(-1)]).toEqual([0, 'finally']);
});
