/** A handler that ignores the answers to its own question asks its user for ever. These tests check its report. */
import {
  acceptedContent,
  inputRequired,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { readAnswer } from '../answers/read-answer.ts';
import { elicitation } from '../questions/elicitation.ts';
import { type AnswerEvent, observe } from '../wire/diagnostics.ts';
import { textResult } from '../wire/results.ts';
import { hostTools } from './hosted.test-support.ts';

const Sure = z.object({ sure: z.boolean() });
const question = (words = 'Really delete it?') => elicitation(words, Sure);
const accept = (content: object) => ({ action: 'accept', content });

/** Runs a call of `handler` for `rounds` retries, each with `answers`. */
async function insisting(
  handler: (ctx: ServerContext) => unknown,
  answers: Record<string, unknown>,
  rounds: number,
) {
  const events: AnswerEvent[] = [];
  onTestFinished(observe('mrtr:answer', (event) => events.push(event)));
  const site = hostTools((server: McpServer) => {
    server.registerTool('delete', {}, ((ctx: ServerContext) => handler(ctx)) as () => never);
  });
  let reply = await site.post('tools/call', { name: 'delete' });
  for (let round = 0; round < rounds; round++) {
    const requestState = reply.result?.requestState;
    reply = await site.post('tools/call', { name: 'delete', requestState, inputResponses: answers });
  }
  const seen = events.map(({ key, reason, times, didYouMean }) => ({ key, reason, times, didYouMean }));
  return { reply, events: seen, errors: site.errors };
}

const readsAnotherKey = (ctx: ServerContext) => {
  const answer = readAnswer(ctx, 'sure', question());
  if (answer.kind === 'accepted') return textResult('Deleted.');
  return inputRequired({ inputRequests: { shure: question().request } });
};

test('a key that is asked and never read is reported the second time, with the key that was probably meant', async () => {
  const { events, errors } = await insisting(readsAnotherKey, { shure: accept({ sure: true }) }, 3);
  expect(events).toEqual([
    { key: 'shure', reason: 'unread', times: 2, didYouMean: 'sure' },
    { key: 'shure', reason: 'unread', times: 3, didYouMean: 'sure' },
  ]);
  expect(errors).toEqual([
    "AnswerIgnored: tools/call delete asks 'shure' again, and ignored two answers to it: the handler does not read " +
      "the answer to 'shure'. It reads 'sure', which was not asked. Use one key for both.",
  ]);
});

test('the first ignored answer is not reported', async () => {
  const { events, errors } = await insisting(readsAnotherKey, { shure: accept({ sure: true }) }, 1);
  expect({ events, errors }).toEqual({ events: [], errors: [] });
});

test('a question whose words change in each round is reported', async () => {
  let round = 0;
  const { events, errors } = await insisting(
    (ctx) => {
      const timed = question(`Really delete it? (${round++})`);
      if (readAnswer(ctx, 'sure', timed).kind === 'accepted') return textResult('Deleted.');
      return inputRequired({ inputRequests: { sure: timed.request } });
    },
    { sure: accept({ sure: true }) },
    3,
  );
  expect(events.map(({ reason, times }) => [reason, times])).toEqual([
    ['reworded', 2],
    ['reworded', 3],
  ]);
  expect(errors).toEqual([
    "AnswerIgnored: tools/call delete asks 'sure' again, and ignored two answers to it: the question's words change " +
      'from round to round. Keep what changes out of them, or in the state.',
  ]);
});

const honest = (ctx: ServerContext) => {
  const answer = readAnswer(ctx, 'sure', question());
  if (answer.kind === 'accepted') return textResult('Deleted.');
  return inputRequired({ inputRequests: { sure: question().request } });
};

test('answers that do not fit are published, but not reported as a fault of the handler', async () => {
  const { events, errors } = await insisting(honest, { sure: accept({ sure: 'perhaps' }) }, 2);
  expect(events).toEqual([{ key: 'sure', reason: 'invalid', times: 2, didYouMean: undefined }]);
  expect(errors).toEqual([]);
});

test('a handler that reads an answer and asks the same again is not reported', async () => {
  const { events, errors } = await insisting(
    (ctx) => {
      readAnswer(ctx, 'sure', question());
      return inputRequired({ inputRequests: { sure: question().request } });
    },
    { sure: accept({ sure: false }) },
    4,
  );
  expect({ events, errors }).toEqual({ events: [], errors: [] });
});

test('a retry without an answer is not reported', async () => {
  const { events } = await insisting(honest, {}, 4);
  expect(events).toEqual([]);
});

test('a handler that reads with the helpers of the SDK is never reported', async () => {
  const { events } = await insisting(
    (ctx) => {
      acceptedContent(ctx.mcpReq.inputResponses, 'sure', Sure);
      return inputRequired({ inputRequests: { sure: question().request } });
    },
    { sure: accept({ sure: false }) },
    4,
  );
  expect(events).toEqual([]);
});
