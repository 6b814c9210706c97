/** A token that is presented twice, on servers whose policy makes state single-use. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { eventsOf, type Hosted, hosted } from '../hosted.test-support.ts';
import { readAnswer } from '../read-answer.ts';
import { textResult } from '../results.ts';
import { inputRequired } from '../wire.ts';
import { as, REJECTED, sure, YES } from './asking.test-support.ts';
import {
  type Claim,
  MemoryLedger,
  type MemoryLedgerOptions,
  type Presented,
  type StateLedger,
} from './ledger.ts';
import type { RequestStateOptions } from './policy.ts';

/** A shop whose tool asks without state of its own, and counts its deliveries. */
function shop(options: RequestStateOptions, deliver: () => Promise<void> = async () => {}) {
  const deliveries: number[] = [];
  const site = hosted((server) => {
    server.registerTool('deliver', { inputSchema: z.object({ to: z.string() }) }, async ({ to }, ctx) => {
      if (readAnswer(ctx, 'sure', sure).kind !== 'accepted')
        return inputRequired({ inputRequests: { sure: sure.request } });
      deliveries.push(deliveries.length + 1);
      await deliver();
      if (to === 'nowhere') throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No such place');
      return textResult(`Delivery ${deliveries.length} to ${to}`);
    });
  }, options);
  return { ...site, deliveries };
}

async function retryOf({ post }: Pick<Hosted, 'post'>, to = 'Ada', options = {}) {
  const call = { name: 'deliver', arguments: { to } };
  const { result } = await post('tools/call', call, options);
  expect(result?.resultType).toBe('input_required');
  return { ...call, requestState: result?.requestState, inputResponses: YES };
}

test('a retry that is sent again gets the result of the first, and its effects happen once', async () => {
  const states = eventsOf('mrtr:state');
  const site = shop({ singleUse: 'replay' });
  const retry = await retryOf(site);
  const first = await site.post('tools/call', retry);
  expect(first.result).toMatchObject(textResult('Delivery 1 to Ada'));
  expect(await site.post('tools/call', retry)).toEqual(first);
  expect(site.deliveries).toEqual([1]);
  expect(states.map(({ phase }) => phase)).toEqual(['sealed', 'opened', 'replayed']);
});

test('retries that are sent at the same time all get the result of one', async () => {
  let go = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const site = shop({ singleUse: 'replay' }, () => gate);
  const retry = await retryOf(site);
  const replies = [1, 2, 3].map(() => site.post('tools/call', retry));
  await expect.poll(() => site.deliveries).toEqual([1]);
  go();
  const [one, ...others] = await Promise.all(replies);
  expect(one?.result).toMatchObject(textResult('Delivery 1 to Ada'));
  expect(others).toEqual([one, one]);
  expect(site.deliveries).toEqual([1]);
});

test('with `reject`, a second presentation gets the frozen error', async () => {
  const states = eventsOf('mrtr:state');
  const site = shop({ singleUse: 'reject' });
  const retry = await retryOf(site);
  expect((await site.post('tools/call', retry)).result).toMatchObject(textResult('Delivery 1 to Ada'));
  expect(await site.post('tools/call', retry)).toEqual(REJECTED);
  expect(site.deliveries).toEqual([1]);
  expect(states.at(-1)).toMatchObject({ phase: 'rejected', reason: 'already_used' });
});

test('an answer without the state of its question does not count', async () => {
  const site = shop({ singleUse: 'replay' });
  const { requestState: _, ...unasked } = await retryOf(site);
  expect((await site.post('tools/call', unasked)).result?.resultType).toBe('input_required');
  expect(site.deliveries).toEqual([]);
});

test('without single use, every presentation is served', async () => {
  const site = shop({ singleUse: false });
  const retry = await retryOf(site);
  for (const delivery of [1, 2]) {
    expect((await site.post('tools/call', retry)).result).toMatchObject(
      textResult(`Delivery ${delivery} to Ada`),
    );
  }
});

test('a ledger gets the expiry of the token and the clock of its server, to the millisecond', async () => {
  const claims: unknown[] = [];
  const memory = new MemoryLedger({ now: () => 1_800_000_000_500 });
  const ledger: StateLedger = {
    claim: (presented) => {
      claims.push([presented.expiresAt, presented.leaseSeconds, presented.now]);
      return memory.claim(presented);
    },
    settle: (...args) => memory.settle(...args),
  };
  const site = shop({ ledger, ttlSeconds: 600, leaseSeconds: 20, now: () => 1_800_000_000_500 });
  await site.post('tools/call', await retryOf(site));
  expect(claims).toEqual([[1_800_000_600_500, 20, 1_800_000_000_500]]);
});

test('an error is replayed too, and its effects do not run again', async () => {
  const site = shop({ singleUse: 'replay' });
  const retry = await retryOf(site, 'nowhere');
  const first = await site.post('tools/call', retry);
  expect(first.result).toMatchObject({ isError: true });
  expect(await site.post('tools/call', retry)).toEqual(first);
  expect(site.deliveries).toEqual([1]);
});

test('two instances that share a ledger serve a token once', async () => {
  const ledger = new MemoryLedger();
  const [one, two] = [shop({ ledger }), shop({ ledger })];
  const retry = await retryOf(one);
  const first = await one.post('tools/call', retry);
  expect(await two.post('tools/call', retry)).toEqual(first);
  expect([one.deliveries, two.deliveries]).toEqual([[1], []]);
});

test('a reader of the ledger can neither read a recorded result nor present it as a token', async () => {
  const kept = new Map<string, string>();
  const memory = new MemoryLedger();
  const ledger: StateLedger = {
    claim: (...args) => memory.claim(...args),
    settle: (id, result) => {
      kept.set(id, result);
      return memory.settle(id, result);
    },
  };
  const site = shop({ ledger });
  await site.post('tools/call', await retryOf(site));
  await site.post('tools/call', await retryOf(site, 'Grace'));
  const [ada, grace] = [...kept.values()];
  expect(`${ada}${grace}`).not.toMatch(/Delivery|Ada|Grace/);
  expect(
    await site.post('tools/call', { name: 'deliver', arguments: { to: 'Ada' }, requestState: grace }),
  ).toEqual(REJECTED);
});

test('a token whose server crashed in the middle is not served again', async () => {
  let now = 1_800_000_000_000;
  const memory = new MemoryLedger({ now: () => now });
  const crashing: StateLedger = { claim: (...args) => memory.claim(...args), settle: async () => {} };
  const states = eventsOf('mrtr:state');
  const [dying, living] = [
    shop({ ledger: crashing, leaseSeconds: 10, now: () => now }),
    shop({ ledger: memory, leaseSeconds: 10, now: () => now }),
  ];
  const retry = await retryOf(dying);
  await dying.post('tools/call', retry);
  now += 11_000;
  expect(await living.post('tools/call', retry)).toEqual(REJECTED);
  expect(living.deliveries).toEqual([]);
  expect(states.at(-1)).toMatchObject({ phase: 'rejected', reason: 'lost' });
});

test('a ledger that cannot be reached refuses the round before anything of it runs', async () => {
  const down: StateLedger = {
    claim: async () => {
      throw new Error('connect ECONNREFUSED 10.0.0.7:6379');
    },
    settle: async () => {},
  };
  const site = shop({ ledger: down });
  const retry = await retryOf(site);
  expect(await site.post('tools/call', retry)).toEqual({
    error: { code: -32603, message: 'The server cannot keep the state of this call' },
  });
  expect(site.deliveries).toEqual([]);
  expect(site.errors.join()).toContain('ECONNREFUSED');
});

test('a result that cannot be recorded still reaches its client, and `onerror` gets the reason', async () => {
  const memory = new MemoryLedger();
  const forgetful: StateLedger = {
    claim: (...args) => memory.claim(...args),
    settle: async () => {
      throw new Error('disk full');
    },
  };
  const site = shop({ ledger: forgetful });
  const reply = await site.post('tools/call', await retryOf(site));
  expect(reply.result).toMatchObject(textResult('Delivery 1 to Ada'));
  expect(site.errors.join()).toContain('disk full');
});

test('a token of another user does not reach the ledger', async () => {
  const claims: string[] = [];
  const memory = new MemoryLedger();
  const ledger: StateLedger = {
    claim: (presented) => {
      claims.push(presented.id);
      return memory.claim(presented);
    },
    settle: (...args) => memory.settle(...args),
  };
  const site = shop({ ledger });
  const retry = await retryOf(site, 'Ada', as('ada'));
  expect(await site.post('tools/call', retry, as('mallory'))).toEqual(REJECTED);
  expect(claims).toEqual([]);
});

/** A ledger on a clock that the test sets, in seconds. */
function clocked(options: MemoryLedgerOptions = {}) {
  let now = 1_800_000_000_000;
  const start = now;
  const ledger = new MemoryLedger({ ...options, now: () => now });
  const claim = (id: string, expiresIn: number, of: Partial<Presented> = {}) =>
    ledger.claim({
      id,
      answers: 'yes',
      expiresAt: start + expiresIn * 1000,
      leaseSeconds: 5,
      principal: undefined,
      now,
      ...of,
    });
  const at = (seconds: number) => {
    now = start + seconds * 1000;
  };
  return { ledger, claim, at };
}
const SKEW = 60;
const settled = (result: string) => ({ kind: 'settled', result, answers: 'yes' });

test('a memory ledger holds at most maxEntries tokens, and forgets expired ones', async () => {
  const { ledger, claim, at } = clocked({ maxEntries: 2 });
  await claim('a', 10);
  await claim('b', 20);
  await expect(claim('c', 30)).rejects.toMatchObject({ code: 'store_full' });
  at(10 + SKEW);
  expect(await claim('c', 300)).toEqual({ kind: 'first' });
  expect(ledger.size).toBe(2);
});

test('a memory ledger holds at most maxEntriesPerPrincipal tokens of one caller', async () => {
  const { claim } = clocked({ maxEntriesPerPrincipal: 2 });
  for (const id of ['a', 'b']) await claim(id, 10, { principal: 'ada' });
  await expect(claim('c', 10, { principal: 'ada' })).rejects.toThrow(/^You have too many calls/);
  expect(await claim('c', 10, { principal: 'bob' })).toEqual({ kind: 'first' });
});

test('a memory ledger forgets expired tokens long before it is full', async () => {
  const { ledger, claim, at } = clocked();
  for (const id of ['a', 'b']) await claim(id, 10);
  at(10 + SKEW);
  await claim('c', 300);
  expect(ledger.size).toBe(1);
});

test('a memory ledger holds at most maxBytes of results; a token whose result it dropped is lost', async () => {
  const { ledger, claim, at } = clocked({ maxBytes: 10 });
  for (const id of ['a', 'b']) await claim(id, 20);
  for (const id of ['a', 'b']) await ledger.settle(id, '8 bytes.');
  expect(await claim('a', 20)).toEqual(settled('8 bytes.'));
  expect(await claim('b', 20)).toEqual({ kind: 'lost' });
  at(20 + SKEW);
  await claim('c', 300);
  await ledger.settle('c', '8 bytes.');
  expect(await claim('c', 300)).toEqual(settled('8 bytes.'));
});

test('a memory ledger holds at most maxBytesPerPrincipal of results of one caller', async () => {
  const { ledger, claim } = clocked({ maxBytesPerPrincipal: 10 });
  for (const id of ['a', 'b']) await claim(id, 20, { principal: 'ada' });
  await claim('c', 20, { principal: 'bob' });
  for (const id of ['a', 'b', 'c']) await ledger.settle(id, '8 bytes.');
  expect(await claim('b', 20)).toEqual({ kind: 'lost' });
  expect(await claim('c', 20)).toEqual(settled('8 bytes.'));
});

test('a memory ledger has room again when entries have expired, also behind an entry that lives longer', async () => {
  const { ledger, claim, at } = clocked({ maxEntries: 40, maxBytes: 100 });
  await claim('long', 1_000_000);
  for (let n = 1; n < 40; n++) await claim(`brief ${n}`, 10);
  await ledger.settle('brief 1', 'x'.repeat(100));
  await expect(claim('one more', 20)).rejects.toMatchObject({ code: 'store_full' });
  at(10 + SKEW);
  expect(await claim('one more', 300)).toEqual({ kind: 'first' });
  await ledger.settle('one more', 'y'.repeat(100));
  expect(await claim('one more', 300)).toEqual(settled('y'.repeat(100)));
  expect(ledger.size).toBe(2);
});

test('a memory ledger has room for results again when entries have expired, also behind an entry that lives longer', async () => {
  const { ledger, claim, at } = clocked({ maxBytes: 10 });
  await claim('long', 1_000_000);
  await claim('brief', 10);
  await claim('late', 300);
  await ledger.settle('brief', '8 bytes.');
  at(10 + SKEW);
  await ledger.settle('late', '8 bytes.');
  expect(await claim('late', 300)).toEqual(settled('8 bytes.'));
});

test('a token that has expired by the ledger’s clock is never served', async () => {
  const { claim, at } = clocked();
  at(10);
  expect(await claim('a', 10)).toEqual({ kind: 'expired' });
});

test.each([700, -61])(
  'a server whose clock is %i s off is refused, and `onerror` gets the difference',
  async (seconds) => {
    const { ledger } = clocked();
    const site = shop({ ledger, now: () => 1_800_000_000_000 + seconds * 1000 });
    const retry = await retryOf(site);
    expect(await site.post('tools/call', retry)).toEqual(REJECTED);
    expect(site.errors.join()).toContain(`differs from the ledger's by ${seconds * 1000} ms`);
  },
);

/** A ledger that decides when the test tells it to. */
function slowLedger() {
  let decide: (claim: Claim) => void = () => {};
  const ledger: StateLedger = {
    claim: () =>
      new Promise((resolve) => {
        decide = resolve;
      }),
    settle: async () => {},
  };
  return { ledger, decide: (claim: Claim) => decide(claim) };
}

test('a ledger that takes longer than its limit is not waited for, and nothing is served later', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { ledger, decide } = slowLedger();
  const site = shop({ ledger, claimSeconds: 5 });
  const retry = await retryOf(site);
  const reply = site.post('tools/call', retry);
  await vi.advanceTimersByTimeAsync(5000);
  expect((await reply).error).toMatchObject({ code: -32603 });
  decide({ kind: 'first' });
  expect(site.errors.join()).toContain('did not decide within 5 s');
  const next = await shop({ singleUse: false }).post('tools/call', await retryOf(shop({ singleUse: false })));
  expect(next.result).toMatchObject(textResult('Delivery 1 to Ada'));
});

test('a token that expires while the ledger decides is not served', async () => {
  let now = 1_800_000_000_000;
  const ledger: StateLedger = {
    claim: async () => {
      now += 600_000;
      return { kind: 'first' };
    },
    settle: async () => {},
  };
  const site = shop({ ledger, ttlSeconds: 600, now: () => now });
  expect(await site.post('tools/call', await retryOf(site))).toEqual(REJECTED);
});

test('a result over the limit is not repeated: the second answer only says that the step was done', async () => {
  const site = shop({ singleUse: 'replay', maxResultBytes: 20 });
  const retry = await retryOf(site);
  expect((await site.post('tools/call', retry)).result).toMatchObject(textResult('Delivery 1 to Ada'));
  const again = await site.post('tools/call', retry);
  expect(again.result).toMatchObject({ isError: true });
  expect(JSON.stringify(again.result)).toContain('This step was done. Its result is too large to repeat.');
});
