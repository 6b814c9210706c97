/** Answers that are too large, too deep, or in a prototype, before a handler sees them. */
import { acceptedContent, inputRequired, type ServerContext } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readAnswer } from '../answers/read-answer.ts';
import { type Elicitation, elicitation } from '../questions/elicitation.ts';
import { textResult } from '../results.ts';
import { asking, beginCall, sure, YES } from './asking.test-support.ts';
import { eventsOf, hostTools, oldClient } from './hosted.test-support.ts';
import { answersFit } from './incoming-answers.ts';

const answer = (padding: unknown) => ({ action: 'accept', content: { sure: true, padding } });
/** An answer of exactly `bytes` of JSON. */
const answerOfBytes = (bytes: number) => answer('x'.repeat(bytes - JSON.stringify(answer('')).length));
const nestArrays = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

const REJECTED = {
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

test('an answer of exactly the limit is accepted, and one byte more is rejected', async () => {
  const entries: (string | undefined)[] = [];
  const { reply, errors } = await askDeploy(entries);
  expect(await reply({ sure: answerOfBytes(16_385) })).toEqual(REJECTED);
  expect(entries).toEqual([undefined]);
  expect(errors).toEqual([
    'OperatorWarning: An answer was rejected. ' +
      'An answer has to be JSON of at most 16384 bytes, nested at most 200 levels deep.',
  ]);
  expect((await reply({ sure: answerOfBytes(16_384) })).result).toMatchObject(textResult('Done.'));
});

test('an answer to a question that was not asked is limited too, and leaves the state unused', async () => {
  const { reply } = await askDeploy([], { singleUse: 'reject' });
  expect(await reply({ ...YES, other: answerOfBytes(16_385) })).toEqual(REJECTED);
  expect((await reply(YES)).result).toMatchObject(textResult('Done.'));
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

test('a handler sees the answers as the client sent them: an echo and a strict schema find nothing of ours', async () => {
  const echoes: string[] = [];
  const strict = z.strictObject({ sure: z.strictObject({ action: z.string(), content: z.unknown() }) });
  const site = hostTools((server) => {
    server.registerTool('deploy', { inputSchema: z.looseObject({}) }, (_, ctx) => {
      const { inputResponses } = ctx.mcpReq;
      if (!inputResponses) return inputRequired({ inputRequests: { sure: sure.request } });
      const { sure: spread } = {
        ...strict.parse(inputResponses),
        sure: { ...(inputResponses.sure as object) },
      };
      expect(Object.keys(spread)).toEqual(['action', 'content']);
      echoes.push(JSON.stringify(inputResponses), JSON.stringify(structuredClone(spread)));
      return textResult('Done.');
    });
  });
  const retry = await beginCall(site);
  const { result } = await site.post('tools/call', { ...retry, inputResponses: YES });
  expect(result).toMatchObject(textResult('Done.'));
  expect(echoes).toEqual([JSON.stringify(YES), JSON.stringify(YES.sure)]);
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
    { unaskedAnswers: ['deploy'] },
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
    'InvalidDefinition: One round asks 33 questions; the limit is 32. Ask for several fields in one form, or ' +
      'spread the questions over rounds.',
  ]);
});

const Sure = z.object({ sure: z.boolean() });

/** A handler that asks in each round, and a client that gives the same answer each time. */
interface Insisting {
  readonly read: (ctx: ServerContext, asked: Elicitation) => unknown;
  readonly key?: string;
  readonly words?: (round: number) => string;
  readonly content?: object;
  readonly rounds: number;
}

const readSure: Insisting['read'] = (ctx, asked) => readAnswer(ctx, 'sure', asked);
const wordsOfRound = (round: number) => `Really delete it? (${round})`;
const [content, no] = [{ sure: true }, { sure: false }];

test.each<[what: string, insisting: Insisting, events?: readonly object[], why?: string]>([
  [
    'a key that is asked and never read is reported the second time, with the key that was probably meant',
    { read: readSure, key: 'shure', content, rounds: 3 },
    [2, 3].map((times) => ({ key: 'shure', reason: 'unread', times, didYouMean: 'sure' })),
    "the handler does not read the answer to 'shure'. It reads 'sure', which was not asked. Use one key for both.",
  ],
  [
    'a question whose words change in each round is reported',
    { read: readSure, words: wordsOfRound, content, rounds: 3 },
    [2, 3].map((times) => ({ key: 'sure', reason: 'reworded', times })),
    "the question's words change from round to round. Keep what changes out of them, or in the state.",
  ],
  [
    'answers that do not fit are published, but not reported as a fault of the handler',
    { read: readSure, content: { sure: 'perhaps' }, rounds: 2 },
    [{ key: 'sure', reason: 'invalid', times: 2 }],
  ],
  ['the first ignored answer is not reported', { read: readSure, key: 'shure', content, rounds: 1 }],
  [
    'a handler that reads an answer and asks the same again is not reported',
    { read: readSure, content: no, rounds: 4 },
  ],
  ['a retry without an answer is not reported', { read: readSure, rounds: 4 }],
  [
    'a handler that reads with the helpers of the SDK is not reported',
    {
      read: ({ mcpReq }) => acceptedContent(mcpReq.inputResponses, 'sure', Sure),
      content: no,
      rounds: 4,
    },
  ],
])('%s', async (_what, { read, key = 'sure', words, content, rounds }, events = [], why) => {
  const published = eventsOf('mrtr:answer');
  let round = 0;
  const { post, errors } = hostTools((server) => {
    server.registerTool('delete', {}, (ctx) => {
      const asked = elicitation(words?.(round++) ?? 'Really delete it?', Sure);
      read(ctx, asked);
      return inputRequired({ inputRequests: { [key]: asked.request } });
    });
  });
  const inputResponses = content ? { [key]: { action: 'accept', content } } : {};
  let reply = await post('tools/call', { name: 'delete' });
  for (let at = 0; at < rounds; at++) {
    const requestState = reply.result?.requestState;
    reply = await post('tools/call', { name: 'delete', requestState, inputResponses });
  }
  expect(published).toMatchObject(events);
  expect(published).toHaveLength(events.length);
  const reported = `AnswerIgnored: The handler asks '${key}' again, and ignored two answers to it: ${why}`;
  expect(errors).toEqual(why === undefined ? [] : [reported]);
});
