/** Answers that are too large, too deep, or in a prototype, before a handler sees them. */
import {
  acceptedContent,
  inputRequired,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { readAnswer } from '../answers/read-answer.ts';
import { type AnswerEvent, observe } from '../diagnostics/diagnostics.ts';
import { elicitation } from '../questions/elicitation.ts';
import { textResult } from '../wire/results.ts';
import { answersFit } from './answers.ts';
import { asking, beginCall, sure, YES } from './asking.test-support.ts';
import { hostTools, oldClient } from './hosted.test-support.ts';

const answer = (padding: unknown) => ({ action: 'accept', content: { sure: true, padding } });
/** An answer of exactly `bytes` of JSON. */
const answerOfBytes = (bytes: number) => answer('x'.repeat(bytes - JSON.stringify(answer('')).length));
const nestArrays = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

const REFUSED = {
  error: {
    code: -32602,
    message: 'An answer has to be JSON of at most 16384 bytes, nested at most 200 levels deep',
    data: { reason: 'answer_too_large' },
  },
};

/** A call that was asked a question, and its retries. */
async function askDeploy(entries: (string | undefined)[] = [], options = {}) {
  const site = hostTools(asking(entries), options);
  const retry = await beginCall(site);
  return {
    ...site,
    reply: (inputResponses: object) => site.post('tools/call', { ...retry, inputResponses }),
  };
}

test('an answer of exactly the limit is accepted, and one byte more is refused', async () => {
  const entries: (string | undefined)[] = [];
  const { reply, errors } = await askDeploy(entries);
  expect(await reply({ sure: answerOfBytes(16_385) })).toEqual(REFUSED);
  expect(entries).toEqual([undefined]);
  expect(errors).toEqual([
    'OperatorWarning: An answer was refused. ' +
      'An answer has to be JSON of at most 16384 bytes, nested at most 200 levels deep.',
  ]);
  expect((await reply({ sure: answerOfBytes(16_384) })).result).toMatchObject(textResult('Done.'));
});

test('an answer to a question that was not asked is limited too, and leaves the state unused', async () => {
  const { reply } = await askDeploy([], { singleUse: 'reject' });
  expect(await reply({ ...YES, other: answerOfBytes(16_385) })).toEqual(REFUSED);
  expect((await reply(YES)).result).toMatchObject(textResult('Done.'));
});

test('an answer that is nested too deeply is refused like a large one', async () => {
  const { reply } = await askDeploy();
  // Two levels are the answer and its content.
  expect(await reply({ sure: answer(nestArrays(200)) })).toEqual(REFUSED);
  expect((await reply({ sure: answer(nestArrays(199)) })).result).toMatchObject(textResult('Done.'));
});

test('an answer over an old client’s stream has the same limit', async () => {
  const entries: (string | undefined)[] = [];
  const client = await oldClient(hostTools(asking(entries)), () => answerOfBytes(65_537));
  await expect(client.callTool({ name: 'deploy' })).rejects.toMatchObject({ code: -32602 });
  expect(entries).toEqual([undefined]);
});

test.each([
  ['100 000 levels of lists', answer(nestArrays(100_000))],
  ['a number that overflows', JSON.parse('{"action":"accept","content":{"sure":1e999}}')],
  ['a number that overflows, before a large text', JSON.parse(`{"a":1e999,"b":"${'x'.repeat(70_000)}"}`)],
  ['letters of several bytes', answer('€'.repeat(25_000))],
])('%s do not fit', (_what, hostile) => {
  expect(answersFit({ sure: hostile }, 16_384)).toBe(false);
});

test('an answer in the prototype is not found by the SDK’s own helper, and changes no prototype', async () => {
  const members = Reflect.ownKeys(Object.prototype);
  const seen: unknown[] = [];
  const { post } = hostTools(
    (server) => {
      server.registerTool('deploy', {}, (ctx) => {
        seen.push(acceptedContent(ctx.mcpReq.inputResponses, 'sure'));
        return inputRequired({ inputRequests: { sure: sure.request } });
      });
    },
    { unaskedAnswers: 'accept' },
  );
  const inputResponses = JSON.parse(`{"__proto__":${JSON.stringify(YES)},"other":{"action":"cancel"}}`);
  await post('tools/call', { name: 'deploy', inputResponses });
  expect(seen).toEqual([undefined]);
  expect(Reflect.ownKeys(Object.prototype)).toEqual(members);
});

/** A tool that asks `count` questions at once. */
const asksFor = (count: number, options = {}) =>
  hostTools((server) => {
    const inputRequests = Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`q${at}`, sure.request]),
    );
    server.registerTool('deploy', {}, () => inputRequired({ inputRequests, requestState: 'plan' }));
  }, options);

test('a round may ask 32 questions, and not 33', async () => {
  expect((await asksFor(32).post('tools/call', { name: 'deploy' })).result?.resultType).toBe(
    'input_required',
  );
  const { post, errors } = asksFor(33);
  expect(await post('tools/call', { name: 'deploy' })).toEqual({
    error: { code: -32603, message: 'The server asks too many questions at once' },
  });
  expect(errors).toEqual([
    'TooManyQuestions: One round asks 33 questions; the policy allows 32. Ask for several fields in one form, ' +
      'spread the questions over rounds, or raise maxQuestions.',
  ]);
});

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
    "AnswerIgnored: The handler asks 'shure' again, and ignored two answers to it: the handler does not read " +
      "the answer to 'shure'. It reads 'sure', which was not asked. Use one key for both.",
  ]);
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
    "AnswerIgnored: The handler asks 'sure' again, and ignored two answers to it: the question's words change " +
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

const NO = { sure: accept({ sure: false }) };
/** Asks the same again, however it read the answer. */
const askingAgain = (read: (ctx: ServerContext) => unknown) => (ctx: ServerContext) => {
  read(ctx);
  return inputRequired({ inputRequests: { sure: question().request } });
};

test.each<[string, (ctx: ServerContext) => unknown, Record<string, unknown>, number]>([
  ['the first ignored answer', readsAnotherKey, { shure: accept({ sure: true }) }, 1],
  [
    'a handler that reads an answer and asks the same again',
    askingAgain((ctx) => readAnswer(ctx, 'sure', question())),
    NO,
    4,
  ],
  ['a retry without an answer', honest, {}, 4],
  [
    'a handler that reads with the helpers of the SDK',
    askingAgain(({ mcpReq }) => acceptedContent(mcpReq.inputResponses, 'sure', Sure)),
    NO,
    4,
  ],
])('%s is not reported', async (_what, handler, answers, rounds) => {
  const { events, errors } = await insisting(handler, answers, rounds);
  expect({ events, errors }).toEqual({ events: [], errors: [] });
});
