/** Handlers of shape H that keep running after their call has ended. */

import { textResult } from '@mrtr/core';
import { callerNamed } from '@mrtr/harness';
import { Deferred, settle } from '@mrtr/harness/internal';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countRuns, Units, units } from '../fixture.test-support.ts';
import { ContinuationStore, type LinearContext } from './index.ts';
import { ContinuationLost } from './messages.ts';
import { type Handler, serving, startRound } from './parking.test-support.ts';

const FULL = /^This server has too many unanswered calls open/;
const ASKS = { units: 'Which units?' };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(async () => {
  vi.useRealTimers();
  // Vitest fails on an exception that nobody catches. It comes a turn later.
  await settle();
});

/** Asks, and hangs in its `finally` until the gate opens. */
const hanging =
  (gate: Deferred): Handler =>
  async (_args, ctx) => {
    try {
      return textResult((await ctx.elicit('Which units?', Units)).units);
    } finally {
      await gate.promise;
    }
  };

/** Lets all parked calls expire. */
async function expire(): Promise<void> {
  vi.advanceTimersByTime(60_000);
  await settle();
}

test('a handler that hangs after its call is reported, and gives its place back, up to the limit of such handlers', async () => {
  const errors: string[] = [];
  const onerror = ({ message }: Error) => void errors.push(message);
  const gate = new Deferred();
  const { client } = await serving(hanging(gate), { limits: { frames: 1 }, ttlSeconds: 60, onerror });
  for (let call = 0; call < 2; call++) {
    expect((await client.send()).asks).toEqual(ASKS);
    await expire();
  }
  // The first gave its place to the second, which keeps it.
  expect((await client.send()).fails).toMatch(FULL);
  vi.advanceTimersByTime(10_000);
  const late = expect.stringMatching(
    /^The handler has not ended 10 s after its call was over.+ \[call \S{22}, caller \S+, tools\/call \S+\]$/,
  );
  expect(errors).toEqual([
    late,
    expect.stringMatching(/^1 handlers of cancelled calls have not ended/),
    late,
  ]);
  gate.open();
  await settle();
  expect((await client.send()).asks).toEqual(ASKS);
});

test('abandoned handlers of one principal take no room from another', async () => {
  const gate = new Deferred();
  const limits = { frames: 10, perPrincipal: 1 / 10 };
  const { client, site } = await serving(hanging(gate), { limits, ttlSeconds: 60, onerror: () => {} });
  site.caller = callerNamed('eve');
  for (let call = 0; call < 2; call++) {
    expect((await client.send()).asks).toEqual(ASKS);
    await expire();
  }
  expect((await client.send()).fails).toMatch(/^You have too many unanswered calls open/);
  site.caller = callerNamed('adam');
  expect((await client.send()).asks).toEqual(ASKS);
  gate.open();
});

test('a handler that asks for ever beside a step that runs has ended when the step has', async () => {
  const gate = new Deferred();
  const stubborn: Handler = async (_args, ctx) => {
    void ctx.once('slow', () => gate.promise);
    await ctx.elicit('Which units?', Units).catch(() => {});
    for (;;) await ctx.elicit('Which units?', Units).catch(() => {});
  };
  const { client } = await serving(stubborn, { limits: { frames: 1 }, onerror: () => {} });
  const cancel = async () => {
    const user = new AbortController();
    const call = client.send({}, { signal: user.signal });
    await settle();
    user.abort();
    await call;
    await settle(200);
  };
  await cancel();
  await cancel();
  expect((await client.send()).fails).toMatch(FULL);
  gate.open();
  await settle();
  expect((await client.send()).asks).toEqual(ASKS);
});

/** Reminds its user: asks again and again, and waits a little for each answer, until the gate opens. */
const reminding =
  (gate: Deferred): Handler =>
  async (_args, ctx) => {
    let done = false;
    void gate.promise.then(() => {
      done = true;
    });
    for (let n = 0; !done; n++) {
      const soon = new Promise((resolve) => setTimeout(resolve, 1000));
      await Promise.race([ctx.ask(`units ${n}`, units), n === 0 ? gate.promise : soon]).catch(() => {});
    }
    return textResult('Ended.');
  };

/** Waits for rejections, and for handlers that race them against a time limit. */
async function remind(): Promise<void> {
  await settle(300);
  vi.advanceTimersByTime(1000);
  await settle();
}

test('a handler that asks with a time limit of its own is reported once, and counts until it ends', async () => {
  const errors: string[] = [];
  const onerror = ({ message }: Error) => void errors.push(message);
  const gate = new Deferred();
  const { client } = await serving(reminding(gate), {
    limits: { frames: 1 },
    ttlSeconds: 60,
    onerror,
  });
  await client.send();
  await expire();
  for (let time = 0; time < 5; time++) await remind();
  expect(errors.splice(0)).toEqual([
    expect.stringMatching(/^The handler is still running after its call ended/),
  ]);
  // It takes the only abandoned place, so the next one keeps its call's place, even if it asks often.
  expect((await client.send()).asks).toEqual({ 'units 0': 'Which units?' });
  await expire();
  for (let time = 0; time < 5; time++) await remind();
  expect((await client.send()).fails).toMatch(FULL);
  gate.open();
  await remind();
  expect(await client.send()).toEqual({ says: 'Ended.' });
});

test('branches that ask side by side have stopped when each of them has', async () => {
  const stubborn: Handler = async (_args, ctx) => {
    let rejections = 0;
    // The branch that gets the last rejection, when its siblings have stopped, ends with it.
    const branch = async (key: string) => {
      while (rejections < 103) await ctx.ask(key, units).catch(() => rejections++);
    };
    await Promise.all(['a', 'b', 'c'].map(branch));
    return textResult('never seen');
  };
  const errors: Error[] = [];
  const onerror = (error: Error) => void errors.push(error);
  const { client } = await serving(stubborn, { limits: { frames: 1 }, ttlSeconds: 60, onerror });
  for (let call = 0; call < 3; call++) {
    expect((await client.send()).asks).toBeDefined();
    await expire();
    await settle(200);
  }
  vi.advanceTimersByTime(10_000);
  expect(errors).toEqual([]);
});

test('a handler that keeps asking after its call stops, and its round ends, so nothing else waits for it', async () => {
  const asks = countRuns(() => {});
  const stubborn = async (_input: never, ctx: LinearContext) => {
    for (;;) {
      asks();
      await ctx.elicit('Which units?', Units).catch(() => {});
    }
  };
  const client = new AbortController();
  const round = startRound(new ContinuationStore({ onerror: () => {} }), stubborn, client);
  client.abort();
  expect(await round).toEqual({ kind: 'threw', error: expect.any(ContinuationLost) });
  // After its first question it gets 100 rejections; the next question never settles.
  const stopped = asks.runs;
  expect(stopped).toBeLessThanOrEqual(102);
  await settle(200);
  expect(asks.runs).toBe(stopped);
});

test('an error of a listener of the signal is reported, and the other listeners are called', async () => {
  const errors: unknown[] = [];
  const heard: string[] = [];
  const onerror = ({ message, cause }: Error) => void errors.push([message, (cause as Error).message]);
  const noteRemoval = () => void heard.push('removed');
  const { site } = await serving(
    async (_args, { signal, elicit }) => {
      signal.addEventListener('abort', () => {
        throw new Error('thrown');
      });
      signal.addEventListener('abort', async () => Promise.reject(new Error('rejected')));
      signal.addEventListener('abort', { handleEvent: () => void heard.push('object') });
      signal.addEventListener('abort', noteRemoval);
      signal.removeEventListener('abort', noteRemoval);
      signal.onabort = () => {
        throw new Error('onabort');
      };
      AbortSignal.any([signal]).addEventListener('abort', () => void heard.push('any'));
      return textResult((await elicit('Which units?', Units)).units);
    },
    { ttlSeconds: 60, onerror },
  );
  await (await site.connect()).send();
  await expire();
  const failed = 'A listener of ctx.signal failed. The call was ended all the same.';
  expect(errors).toEqual(['thrown', 'onabort', 'rejected'].map((cause) => [failed, cause]));
  expect(heard.sort()).toEqual(['any', 'object']);
});

test('close waits for a hanging handler only for a limited time', async () => {
  const gate = new Deferred();
  const { site, store } = await serving(hanging(gate), { onerror: () => {} });
  await (await site.connect()).send();
  const closed = vi.fn();
  const closing = store.close().then(closed);
  await settle();
  vi.advanceTimersByTime(9_999);
  await settle();
  expect(closed).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  await closing;
  gate.open();
});

test('the arguments of all open calls and of one principal are limited in bytes, and those of abandoned handlers are free', async () => {
  const gate = new Deferred();
  // A call that is rejected keeps no place.
  const limits = { frames: 5, bytes: 20_000, perPrincipal: 1 / 2 };
  const store = new ContinuationStore({ limits, ttlSeconds: 60, onerror: () => {} });
  const handler = hanging(gate) as Parameters<typeof startRound>[1];
  const ask = (bytes: number, pseudonym = 'eve') =>
    startRound(store, handler, undefined, { pseudonym, input: { text: 'x'.repeat(bytes) } });
  const rejected =
    'The arguments of this call and of your open ones are too large to keep together. Answer or cancel one of them, ' +
    'or send less. Nothing of this call has run.';
  await ask(6000);
  await expect(ask(6000)).rejects.toThrow(rejected);
  await ask(1000);
  for (const pseudonym of ['adam', 'bob']) await ask(6000, pseudonym);
  await expect(ask(6000, 'carl')).rejects.toThrow('of this call and of those that are open are too large');
  await expire();
  await ask(6000);
  await expire();
  // The abandoned places are full, so this one keeps its bytes until it ends.
  await expect(ask(6000)).rejects.toThrow(rejected);
  gate.open();
  await settle();
  await ask(6000);
});
