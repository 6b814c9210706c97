import type { McpServer } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { as, sure, YES } from '../admission/asking.test-support.ts';
import { hostTools, oldClient } from '../admission/hosted.test-support.ts';
import { ask } from '../answers/ask.ts';
import { textResult } from '../results.ts';
import { type Call, findCall, idempotencyKey } from './call.ts';

/** Registers a tool; `calls` collects the record that it gets. */
const recording =
  (calls: (Call | undefined)[]) =>
  (server: McpServer): void => {
    server.registerTool('t', { inputSchema: z.looseObject({}) }, (_, ctx) => {
      calls.push(findCall(ctx));
      return textResult('');
    });
  };

test('isPseudonym knows the caller under every key of the ring, and no other caller', async () => {
  const calls: (Call | undefined)[] = [];
  const [oldKey, newKey] = ['k'.repeat(32), 'n'.repeat(32)];
  for (const [keys, sub] of [
    [[oldKey], 'alice'],
    [[newKey, oldKey], 'alice'],
    [[newKey, oldKey], 'bob'],
  ] as const) {
    await hostTools(recording(calls), { keys }).post('tools/call', { name: 't' }, as(sub));
  }
  await hostTools(recording(calls)).post('tools/call', { name: 't' });
  const [before, after, bob, anonymous] = calls as [Call, Call, Call, Call];
  expect(after.pseudonym).not.toBe(before.pseudonym);
  expect(after.isPseudonym(before.pseudonym)).toBe(true);
  expect(after.isPseudonym(after.pseudonym)).toBe(true);
  expect(before.isPseudonym(after.pseudonym)).toBe(false);
  expect([
    bob.isPseudonym(after.pseudonym),
    bob.isPseudonym(undefined),
    anonymous.isPseudonym(after.pseudonym),
  ]).toEqual([false, false, false]);
  expect(anonymous.isPseudonym(undefined)).toBe(true);
});

test('a client cannot send its own record', async () => {
  const calls: (Call | undefined)[] = [];
  const client = await oldClient(hostTools(recording(calls)));
  await client.callTool({
    name: 't',
    arguments: { 'mrtr.call': { round: 9 } },
    _meta: { 'mrtr.call': { round: 9 } },
  });
  expect(calls).toMatchObject([{ method: 'tools/call', target: 't', round: 1, revision: '2025-11-25' }]);
});

test('a plain handler gets the same key in each round of a call, and another in another call', async () => {
  const keys: string[] = [];
  const { post } = hostTools((server) => {
    server.registerTool('pay', {}, (ctx) => {
      keys.push(idempotencyKey(ctx, 'pay'), idempotencyKey(ctx, 'mail'));
      return ctx.mcpReq.inputResponses ? textResult('Paid.') : ask({ sure });
    });
  });
  const { result } = await post('tools/call', { name: 'pay' });
  await post('tools/call', { name: 'pay', requestState: result?.requestState, inputResponses: YES });
  await post('tools/call', { name: 'pay' });
  const [pay, mail, payAgain, mailAgain, otherPay] = keys;
  expect([payAgain, mailAgain]).toEqual([pay, mail]);
  expect(new Set([pay, mail, otherPay]).size).toBe(3);
});
