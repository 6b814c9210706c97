/** Handlers of shape H that keep running after their call has ended. */

import { textResult } from '@mrtr/core';
import { callerNamed, Deferred, settle } from '@mrtr/harness';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countRuns, requestOf, Units, units } from '../fixture.test-support.ts';
import { ContinuationStore, type LinearContext, type LinearRound } from './index.ts';
import { ContinuationLost } from './messages.ts';
import { type Handler, serving } from './parking.test-support.ts';

const FULL = /^This server has too many unanswered calls open/;
const ASKS = { units: 'Which units?' };

const uncaught: unknown[] = [];
const onUncaught = (error: unknown) => void uncaught.push(error);
const vitestsOwn = process.listeners('uncaughtException');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  for (const listener of vitestsOwn) process.off('uncaughtException', listener);
  process.on('uncaughtException', onUncaught);
});
afterEach(async () => {
  vi.useRealTimers();
  await settle();
  process.off('uncaughtException', onUncaught);
  for (const listener of vitestsOwn) process.on('uncaughtException', listener);
  expect(uncaught.splice(0)).toEqual([]);
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

test('a handler that hangs in its finally gives its place back when it expires, and is reported', async () => {
  const errors: string[] = [];
  const onerror = ({ message }: Error) => void errors.push(message);
  const gate = new Deferred();
  const { site } = serving(hanging(gate), { maxFrames: 1, ttlSeconds: 60, onerror });
  const client = await site.connect();
  await client.send();
  await expire();
  expect((await client.send()).asks).toEqual(ASKS);
  expect(errors).toEqual([]);
  vi.advanceTimersByTime(10_000);
  expect(errors).toEqual([
    expect.stringMatching(
      /^The handler has not ended 10 s after its call was over.+ \[call \S{22}, caller \S+, tools\/call \S+\]$/,
    ),
  ]);
  gate.open();
});

test('above the limit of abandoned handlers, a handler keeps the place of its call until it ends', async () => {
  const gate = new Deferred();
  const { site } = serving(hanging(gate), {
    maxFrames: 2,
    maxAbandoned: 1,
    ttlSeconds: 60,
    onerror: () => {},
  });
  const client = await site.connect();
  for (let call = 0; call < 2; call++) await client.send();
  await expire();
  // Of the two, one place is free.
  expect((await client.send()).asks).toEqual(ASKS);
  expect((await client.send()).fails).toMatch(FULL);
  gate.open();
  await settle();
  expect((await client.send()).asks).toEqual(ASKS);
});

test('abandoned handlers of one principal take no room from another', async () => {
  const gate = new Deferred();
  const limits = { maxFramesPerPrincipal: 1, maxAbandonedPerPrincipal: 1, ttlSeconds: 60, onerror: () => {} };
  const { site } = serving(hanging(gate), limits);
  const client = await site.connect();
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
  const { site } = serving(stubborn, { maxFrames: 1, maxAbandoned: 1, onerror: () => {} });
  const client = await site.connect();
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

/** Lets refusals pass, and the handlers that race them against a time limit go on. */
async function remind(): Promise<void> {
  await settle(300);
  vi.advanceTimersByTime(1000);
  await settle();
}

test('a handler that asks with a time limit of its own is reported once, and counts until it ends', async () => {
  const errors: string[] = [];
  const onerror = ({ message }: Error) => void errors.push(message);
  const gate = new Deferred();
  const { site } = serving(reminding(gate), { maxFrames: 1, maxAbandoned: 1, ttlSeconds: 60, onerror });
  const client = await site.connect();
  await client.send();
  await expire();
  for (let time = 0; time < 5; time++) await remind();
  expect(errors.splice(0)).toEqual([
    expect.stringMatching(/^The handler is still running after its call ended/),
  ]);
  // It is the one that may be abandoned, so the next one keeps its place, however often it asks.
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
    let refusals = 0;
    // The branch that gets the last refusal, when its siblings have stopped, ends with it.
    const branch = async (key: string) => {
      while (refusals < 103) await ctx.ask(key, units).catch(() => refusals++);
    };
    await Promise.all(['a', 'b', 'c'].map(branch));
    return textResult('never seen');
  };
  const errors: Error[] = [];
  const onerror = (error: Error) => void errors.push(error);
  const { site } = serving(stubborn, { maxFrames: 1, maxAbandoned: 1, ttlSeconds: 60, onerror });
  const client = await site.connect();
  for (let call = 0; call < 3; call++) {
    expect((await client.send()).asks).toBeDefined();
    await expire();
    await settle(200);
  }
  vi.advanceTimersByTime(10_000);
  expect(errors).toEqual([]);
});

test('the round of a handler that has stopped ends, so nothing else waits for it', async () => {
  const stubborn = async (_input: never, ctx: LinearContext) => {
    for (;;) await ctx.elicit('Which units?', Units).catch(() => {});
  };
  const [store, client] = [new ContinuationStore({ onerror: () => {} }), new AbortController()];
  const { call, ctx } = requestOf({}, { signal: client.signal });
  const round = store.round({ handler: stubborn, input: {}, id: undefined, call, ctx });
  client.abort();
  expect(await round).toEqual({ kind: 'threw', error: expect.any(ContinuationLost) });
});

test('abandoned handlers that keep asking stop, and their memory is freed', async () => {
  const asked = countRuns(() => {});
  const stubborn: Handler = async (_args, ctx) => {
    for (;;) {
      try {
        asked();
        await ctx.elicit('Which units?', Units);
      } catch {}
    }
  };
  const { site, store } = serving(stubborn, { maxFrames: 50, ttlSeconds: 60, onerror: () => {} });
  const client = await site.connect();
  for (let call = 0; call < 50; call++) await client.send();
  await expire();
  // Each was asking when it expired. It gets 100 refusals after that; the next one never settles.
  await settle(200);
  const stopped = asked.runs;
  expect(stopped).toBeLessThanOrEqual(50 * 102);
  await settle(200);
  expect([asked.runs, store.parked]).toEqual([stopped, 0]);
});

test('an error of a listener of the signal is reported, and the other listeners are called', async () => {
  const errors: unknown[] = [];
  const heard: string[] = [];
  const onerror = ({ message, cause }: Error) => void errors.push([message, (cause as Error).message]);
  const noteRemoval = () => void heard.push('removed');
  const { site } = serving(
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
  const { site, store } = serving(hanging(gate), { onerror: () => {} });
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

test('the arguments of the open calls of one principal are limited in bytes, and those of abandoned handlers are free', async () => {
  const gate = new Deferred();
  const limits = { maxBytesPerPrincipal: 10_000, maxAbandonedPerPrincipal: 2, ttlSeconds: 60 };
  const store = new ContinuationStore({ ...limits, onerror: () => {} });
  const ask = (bytes: number, pseudonym = 'eve') => {
    const { call, ctx } = requestOf({ pseudonym }, { signal: new AbortController().signal });
    const handler = hanging(gate) as LinearRound['handler'];
    return store.round({ handler, input: { text: 'x'.repeat(bytes) }, id: undefined, call, ctx });
  };
  const refused =
    'The arguments of this call and of your open ones are too large to keep together. Answer or cancel one of them, ' +
    'or send less. Nothing of this call has run.';
  await ask(6000);
  await expect(ask(6000)).rejects.toThrow(refused);
  await ask(1000);
  await ask(6000, 'adam');
  await expire();
  await ask(6000);
  await expire();
  // As many as may be abandoned are: this one keeps its bytes until it ends.
  await expect(ask(6000)).rejects.toThrow(refused);
  gate.open();
  await settle();
  await ask(6000);
});

test('the arguments of all open calls are limited in bytes too', async () => {
  const store = new ContinuationStore({ maxBytes: 10_000 });
  const ask = (pseudonym: string) => {
    const { call, ctx } = requestOf({ pseudonym }, { signal: new AbortController().signal });
    const handler = (_input: never, { elicit }: LinearContext) => elicit('Which units?', Units);
    return store.round({ handler, input: { text: 'x'.repeat(6000) }, id: undefined, call, ctx });
  };
  await ask('eve');
  await expect(ask('adam')).rejects.toThrow(
    'The arguments of this call and of those that are open are too large',
  );
});
