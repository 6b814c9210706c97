import { textResult } from '@mrtr/core';
import { callerNamed, Deferred, settle } from '@mrtr/harness';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  type Caller,
  countRuns,
  decline,
  metric,
  Name,
  name,
  type Outcome,
  requestOf,
  Site,
  tool,
  Units,
} from '../fixture.test-support.ts';
import { ContinuationStore, linear } from './index.ts';
import { type Handler, LOST, parking } from './parking.test-support.ts';

const CLOSED: Outcome = { fails: 'The server is shutting down, and the call was ended.' };
const HOUR = 3_600_000;

beforeEach(() => {
  // Not setImmediate: frames and the SDK need it to run.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
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
async function park(store: ContinuationStore, { signal } = new AbortController()): Promise<void> {
  const { call, ctx } = requestOf({}, { signal });
  await store.round({ handler: (_input, ctx) => ctx.ask({ name }), input: {}, id: undefined, call, ctx });
}

// Counting

test.each<[how: string, end: (client: Caller, asked: Outcome) => Promise<unknown>]>([
  ['is declined', (client, asked) => client.answer(asked, { units: decline })],
  ['asks once more than it may', (client, asked) => client.answer(asked, { units: metric })],
  [
    'expires',
    () => {
      vi.advanceTimersByTime(60_000);
      return settle();
    },
  ],
])('a call that %s gives its room back', async (_how, end) => {
  const { handler, events } = interview();
  const { site, store } = parking(handler, { maxFrames: 1, ttlSeconds: 60, maxRounds: 1 });
  const client = await site.connect();
  await end(client, await client.send());
  expect(events).toContain('finally');
  expect(store.parked).toBe(0);
  expect((await client.send()).asks).toEqual({ units: 'Which units?' });
});

// Time

test('a parked handler that expires is aborted: its signal fires, its finally blocks run', async () => {
  const { handler, events } = interview();
  const { site, store } = parking(handler, { ttlSeconds: 60 });
  const client = await site.connect();
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

test('an expired continuation is refused even before the timer removes it', async () => {
  const { handler } = interview();
  const { site, store } = parking(handler, { ttlSeconds: 60 });
  const client = await site.connect();
  const asked = await client.send();
  vi.setSystemTime(Date.now() + 60_000);
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

// Room

test('a full store refuses a call before anything of it runs, and has room again when another has ended', async () => {
  const gate = new Deferred();
  const entered = countRuns(() => {});
  const { site, store } = parking(
    async ({ n }, ctx) => {
      entered();
      if (n === 1) await gate.promise;
      else await ctx.elicit('Which units?', Units);
      return textResult('done');
    },
    { maxFrames: 2 },
  );
  const client = await site.connect();
  const running = client.send({ arguments: { n: 1 } });
  const asked = await client.send();
  expect([entered.runs, store.parked]).toEqual([2, 1]);
  const refused = {
    fails:
      'This server has too many unanswered calls open. Answer or cancel one of them, or try again later. ' +
      'Nothing of this call has run.',
  };
  expect(await client.send()).toEqual(refused);
  expect(entered.runs).toBe(2);
  gate.open();
  expect(await running).toEqual({ says: 'done' });
  const third = await client.send();
  expect(third.asks).toEqual({ units: 'Which units?' });
  expect(await client.send()).toEqual(refused);
  expect(await client.answer(asked, { units: metric })).toEqual({ says: 'done' });
  expect(await client.answer(third, { units: metric })).toEqual({ says: 'done' });
  expect([entered.runs, store.parked]).toEqual([3, 0]);
});

test('one principal cannot take the room of the others', async () => {
  const { handler } = interview();
  const { site, store } = parking(handler, { maxFrames: 4, maxFramesPerPrincipal: 2 });
  const client = await site.connect();
  site.caller = callerNamed('eve');
  const asked = [await client.send(), await client.send()];
  expect(await client.send()).toEqual({
    fails:
      'You have too many unanswered calls open. Answer or cancel one of them, or try again later. ' +
      'Nothing of this call has run.',
  });
  site.caller = callerNamed('adam');
  expect((await client.send()).asks).toEqual({ units: 'Which units?' });
  // Anonymous calls count only towards the limit of all.
  site.caller = undefined;
  expect((await client.send()).asks).toEqual({ units: 'Which units?' });
  expect((await client.send()).fails).toMatch(/^This server has too many/);
  site.caller = callerNamed('eve');
  expect(await client.answer(asked[0] ?? {}, { units: decline })).toEqual({
    says: "Cancelled: the question 'units' was not answered.",
  });
  expect((await client.send()).asks).toEqual({ units: 'Which units?' });
  expect(store.parked).toBe(4);
});

// Closing

test('close aborts parked and running handlers, waits for their finally blocks, and refuses later calls', async () => {
  const [started, cleaned] = [new Deferred(), new Deferred()];
  const events: string[] = [];
  const { site, store } = parking(async ({ n }, ctx) => {
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
  const client = await site.connect();
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
  const client = await new Site(tool(linear(handler, { store }))).connect();
  expect(await client.send()).toEqual(CLOSED);
  await settle();
  expect([store.parked, events.at(-1)]).toEqual([0, 'finally']);
});
