/** Repeated retries, on servers whose policy makes state single-use. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { ask } from '../answers/ask.ts';
import { readAnswer } from '../answers/read-answer.ts';
import { StoreFull } from '../errors.ts';
import { textResult } from '../results.ts';
import { ledgerLike, ledgerThat, REJECTED, sure, UNKNOWN, YES } from './asking.test-support.ts';
import { eventsOf, type Hosted, hostTools, type TestOptions } from './hosted.test-support.ts';
import { MemoryLedger } from './ledger.ts';

/** A shop whose tool asks without state of its own, and counts its deliveries. */
function shop(options: TestOptions, deliver: () => Promise<void> = async () => {}) {
  const deliveries: number[] = [];
  const site = hostTools((server) => {
    server.registerTool('deliver', { inputSchema: z.object({ to: z.string() }) }, async ({ to }, ctx) => {
      if (readAnswer(ctx, 'sure', sure).kind !== 'accepted') return ask({ sure });
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

test('with `reject`, a repeated retry is rejected like invalid state', async () => {
  const rejections = eventsOf('mrtr:rejection');
  const site = shop({ singleUse: 'reject' });
  const retry = await retryOf(site);
  expect((await site.post('tools/call', retry)).result).toMatchObject(textResult('Delivery 1 to Ada'));
  expect(await site.post('tools/call', retry)).toEqual(REJECTED);
  expect(site.deliveries).toEqual([1]);
  expect(rejections).toMatchObject([{ reason: 'repeated', detail: 'already_used' }]);
});

test('without single use, every repeated retry is served', async () => {
  const site = shop({ singleUse: false });
  const retry = await retryOf(site);
  for (const delivery of [1, 2]) {
    expect((await site.post('tools/call', retry)).result).toMatchObject(
      textResult(`Delivery ${delivery} to Ada`),
    );
  }
});

test('a reader of the ledger can neither read a recorded result nor present it as a token', async () => {
  const kept = new Map<string, string>();
  const memory = new MemoryLedger();
  const ledger = ledgerLike(memory, {
    settle: (id, lease, result) => {
      kept.set(id, result);
      return memory.settle(id, lease, result);
    },
  });
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
  const crashing = ledgerLike(memory, { settle: async () => {} });
  const rejections = eventsOf('mrtr:rejection');
  const [dying, living] = [
    shop({ ledger: crashing, leaseSeconds: 10, now: () => now }),
    shop({ ledger: memory, leaseSeconds: 10, now: () => now }),
  ];
  const retry = await retryOf(dying);
  await dying.post('tools/call', retry);
  now += 11_000;
  expect((await living.post('tools/call', retry)).result).toMatchObject(UNKNOWN);
  expect(living.deliveries).toEqual([]);
  expect(rejections.at(-1)).toMatchObject({ reason: 'lost' });
});

test('a ledger that cannot be reached rejects the round before anything of it runs', async () => {
  const rejections = eventsOf('mrtr:rejection');
  const site = shop({ ledger: ledgerThat(() => Promise.reject(new Error('connect ECONNREFUSED'))) });
  expect(await site.post('tools/call', await retryOf(site))).toEqual({
    error: { code: -32603, message: 'The server cannot keep the state of this call' },
  });
  expect(site.deliveries).toEqual([]);
  expect(site.errors).toEqual(['Error: connect ECONNREFUSED']);
  expect(rejections.map(({ reason }) => reason)).toEqual(['ledger']);
});

test.each([700, -61])(
  'a server whose clock is %i s off is rejected, and `onerror` gets the difference',
  async (seconds) => {
    const ledger = new MemoryLedger({ now: () => 1_800_000_000_000 });
    const site = shop({ ledger, now: () => 1_800_000_000_000 + seconds * 1000 });
    const retry = await retryOf(site);
    expect(await site.post('tools/call', retry)).toEqual(REJECTED);
    expect(site.errors).toContain(
      `OperatorWarning: This server's clock differs from the ledger's by ${seconds * 1000} ms. Every retry is rejected ` +
        'until they agree to within 60 s. Synchronise both clocks.',
    );
  },
);

test('`mrtr:ledger` tells of each request to the ledger, how it ended and how long it took', async () => {
  const events = eventsOf('mrtr:ledger');
  const site = shop({ singleUse: 'replay' });
  await site.post('tools/call', await retryOf(site));
  const failing = shop({ ledger: ledgerThat(() => Promise.reject(new Error('down'))) });
  await failing.post('tools/call', await retryOf(failing));
  expect(events.map(({ operation, outcome }) => [operation, outcome])).toEqual([
    ['lease', 'answered'],
    ['settle', 'answered'],
    ['lease', 'failed'],
  ]);
  for (const { seconds } of events) expect(seconds).toBeLessThan(30);
});

test.each([
  ['lease', 'The retry was rejected and nothing of it ran. ', { error: { code: -32603 } }],
  // A result that cannot be recorded still reaches its client.
  ['settle', '', { result: textResult('Delivery 1 to Ada') }],
] as const)('a %s that takes too long is reported with what to do', async (operation, ran, reply) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const site = shop({
    ledger: ledgerLike(new MemoryLedger(), { [operation]: () => new Promise(() => {}) }),
  });
  const replied = site.post('tools/call', await retryOf(site));
  await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0));
  await vi.advanceTimersByTimeAsync(5000);
  expect(await replied).toMatchObject(reply);
  expect(site.errors.join()).toContain(
    `The ledger did not answer within 5 s. ${ran}Check the ledger's database.`,
  );
});

test.each<[reason: string, options: TestOptions]>([
  ['ledger_full', { ledger: ledgerThat(() => Promise.reject(new StoreFull('The ledger is full.'))) }],
  ['answer_too_large', { fixed: { answerBytes: 1 } }],
])('`mrtr:rejection` gives the reason %s', async (reason, options) => {
  const rejections = eventsOf('mrtr:rejection');
  const site = shop(options);
  expect(await site.post('tools/call', await retryOf(site))).toHaveProperty('error');
  expect(rejections.map(({ detail }) => detail)).toEqual([reason]);
});
