import { inputRequired } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { hostTools } from '../admission/hosted.test-support.ts';
import { elicitation } from '../questions/elicitation.ts';
import { callOf } from './call.ts';
import { idempotencyKey } from './idempotency.ts';
import { textResult } from './results.ts';

const sure = elicitation('Sure?', z.object({ sure: z.boolean() }));

/** A shop that asks twice, and takes a key for its payment in every round. */
const shop = (keys: string[]) =>
  hostTools((server) => {
    server.registerTool('pay', {}, (ctx) => {
      const call = callOf(ctx);
      keys.push(idempotencyKey(call, 'pay'));
      return call.round < 3 ? inputRequired({ inputRequests: { sure: sure.request } }) : textResult('Paid.');
    });
  });

test('a key is the same in every round, on every instance, and for a round that is presented again', async () => {
  const keys: string[] = [];
  let requestState: unknown;
  for (let round = 1; round <= 3; round++) {
    const retry = { name: 'pay', ...(requestState !== undefined && { requestState }) };
    const { result } = await shop(keys).post('tools/call', retry);
    if (round > 1) await shop(keys).post('tools/call', retry);
    requestState = result?.requestState;
  }
  expect(keys).toHaveLength(5);
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^[\w-]{22}$/);
});

test('two calls have different keys, and so have two effects of one call', async () => {
  const keys: string[] = [];
  const { post } = shop(keys);
  for (const _ of Array(2)) await post('tools/call', { name: 'pay' });
  expect(keys[0]).not.toBe(keys[1]);
  expect(idempotencyKey({ id: 'a' }, 'pay')).not.toBe(idempotencyKey({ id: 'a' }, 'refund'));
});
