/** Presenting a token twice, to servers whose policy makes state single-use. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readAnswer } from '../answer.ts';
import { eventsOf, type Hosted, hosted } from '../hosted.test-support.ts';
import { textResult } from '../results.ts';
import { inputRequired } from '../wire.ts';
import { as, REJECTED, sure, YES } from './asking.test-support.ts';
import { MemoryLedger, type StateLedger } from './ledger.ts';
import type { RequestStateOptions } from './policy.ts';

/** A shop whose tool asks without keeping any state, and counts its deliveries. */
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

test('every question goes out with state, also where the author keeps none', async () => {
  const site = shop({ singleUse: 'replay' });
  expect(typeof (await retryOf(site)).requestState).toBe('string');
});

test('a retry that is sent again gets the result of the first, and nothing is done twice', async () => {
  const states = eventsOf('mrtr:state');
  const site = shop({ singleUse: 'replay' });
  const retry = await retryOf(site);
  const first = await site.post('tools/call', retry);
  expect(first.result).toMatchObject(textResult('Delivery 1 to Ada'));
  expect(await site.post('tools/call', retry)).toEqual(first);
  expect(site.deliveries).toEqual([1]);
  expect(states.map(({ phase }) => phase)).toEqual(['sealed', 'opened', 'opened', 'replayed']);
});

test('retries that are sent at once all get the result of one', async () => {
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

test('where the policy rejects, a second presentation is the frozen error', async () => {
  const states = eventsOf('mrtr:state');
  const site = shop({ singleUse: 'reject' });
  const retry = await retryOf(site);
  expect((await site.post('tools/call', retry)).result).toMatchObject(textResult('Delivery 1 to Ada'));
  expect(await site.post('tools/call', retry)).toEqual(REJECTED);
  expect(site.deliveries).toEqual([1]);
  expect(states.at(-1)).toMatchObject({ phase: 'rejected', reason: 'already_used' });
});

test('an answer that comes without the state of its question answers nothing', async () => {
  const site = shop({ singleUse: 'replay' });
  const { requestState: _, ...unasked } = await retryOf(site);
  expect((await site.post('tools/call', unasked)).result?.resultType).toBe('input_required');
  expect(site.deliveries).toEqual([]);
});

test('an error is replayed as well, and what failed is not tried again', async () => {
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

test('a recorded result is nothing that somebody who reads the ledger can read, or use for another call', async () => {
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

test('a claim whose claimant went away is never served again', async () => {
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

test('a result that cannot be recorded still reaches its client, and the operator is told', async () => {
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

test('a token of somebody else does not reach the ledger', async () => {
  const claims: string[] = [];
  const memory = new MemoryLedger();
  const ledger: StateLedger = {
    claim: (id, ...rest) => {
      claims.push(id);
      return memory.claim(id, ...rest);
    },
    settle: (...args) => memory.settle(...args),
  };
  const site = shop({ ledger });
  const retry = await retryOf(site, 'Ada', as('ada'));
  expect(await site.post('tools/call', retry, as('mallory'))).toEqual(REJECTED);
  expect(claims).toEqual([]);
});

test('a ledger in memory takes no more tokens than it may, and forgets the dead ones', async () => {
  let now = 0;
  const ledger = new MemoryLedger({ maxEntries: 2, now: () => now });
  await ledger.claim('a', 10, 5);
  await ledger.claim('b', 20, 5);
  await expect(ledger.claim('c', 30, 5)).rejects.toMatchObject({ code: 'store_full' });
  now = 11_000;
  expect(await ledger.claim('c', 30, 5)).toEqual({ kind: 'first' });
  expect(ledger.size).toBe(2);
});

test('a ledger in memory keeps no more of results than it may; a token whose result it dropped is lost', async () => {
  let now = 0;
  const ledger = new MemoryLedger({ maxBytes: 10, now: () => now });
  for (const id of ['a', 'b']) await ledger.claim(id, 20, 15);
  await ledger.settle('a', '8 bytes.');
  await ledger.settle('b', '8 bytes.');
  expect(await ledger.claim('a', 20, 15)).toEqual({ kind: 'settled', result: '8 bytes.' });
  expect(await ledger.claim('b', 20, 15)).toEqual({ kind: 'lost' });
  now = 21_000;
  await ledger.claim('c', 40, 15);
  await ledger.settle('c', '8 bytes.');
  expect(await ledger.claim('c', 40, 15)).toEqual({ kind: 'settled', result: '8 bytes.' });
});
