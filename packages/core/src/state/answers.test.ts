/** Answers that are too large, too deep, or hidden in a prototype, before any handler sees them. */
import { acceptedContent } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { hosted, oldClient } from '../hosted.test-support.ts';
import { textResult } from '../results.ts';
import { inputRequired } from '../wire.ts';
import { answersFit, ownAnswers } from './answers.ts';
import { asking, sure, YES } from './asking.test-support.ts';

const answer = (padding: unknown) => ({ action: 'accept', content: { sure: true, padding } });
/** An answer of exactly `bytes` of JSON. */
const sized = (bytes: number) => answer('x'.repeat(bytes - JSON.stringify(answer('')).length));
const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

const REFUSED = {
  error: {
    code: -32602,
    message: 'An answer has to be JSON of at most 16384 bytes, nested at most 200 levels deep',
    data: { reason: 'answer_too_large' },
  },
};

/** A call that was asked, and what becomes of its retries. */
async function asked(entries: (string | undefined)[] = [], options = {}) {
  const site = hosted(asking(entries), options);
  const { result } = await site.post('tools/call', { name: 'deploy' });
  const retry = { name: 'deploy', requestState: result?.requestState };
  return {
    ...site,
    reply: (inputResponses: object) => site.post('tools/call', { ...retry, inputResponses }),
  };
}

test('an answer of exactly the limit is taken, and one byte more is refused', async () => {
  const entries: (string | undefined)[] = [];
  const { reply, errors } = await asked(entries);
  expect(await reply({ sure: sized(65_537) })).toEqual(REFUSED);
  expect(entries).toEqual([undefined]);
  expect(errors).toEqual([
    'Error: An answer to tools/call deploy was refused. ' +
      'An answer has to be JSON of at most 16384 bytes, nested at most 200 levels deep.',
  ]);
  expect((await reply({ sure: sized(16_384) })).result).toMatchObject(textResult('Done.'));
});

test('an answer that nobody asked for counts as well', async () => {
  const { reply } = await asked();
  expect(await reply({ ...YES, other: sized(65_537) })).toEqual(REFUSED);
});

test('several answers may together be larger than one', async () => {
  const { reply } = await asked();
  const replied = await reply({ ...YES, other: sized(16_384), another: sized(16_384) });
  expect(replied.result).toMatchObject(textResult('Done.'));
});

test('a refused answer does not use its state up, so a shorter one goes on with the call', async () => {
  const { reply } = await asked([], { singleUse: 'reject' });
  expect(await reply({ sure: sized(65_537) })).toEqual(REFUSED);
  expect((await reply(YES)).result).toMatchObject(textResult('Done.'));
});

test('an answer that is nested too deeply is refused like one that is too large', async () => {
  const { reply } = await asked();
  // Two levels are the answer and its content.
  expect(await reply({ sure: answer(nested(200)) })).toEqual(REFUSED);
  expect((await reply({ sure: answer(nested(199)) })).result).toMatchObject(textResult('Done.'));
});

test('the limit is the policy’s', async () => {
  const { reply } = await asked([], { maxAnswerBytes: 60 });
  expect((await reply({ sure: sized(61) })).error).toMatchObject({ code: -32602 });
  expect((await reply(YES)).result).toMatchObject(textResult('Done.'));
});

test('an answer that came over an old client’s stream is held to it as well', async () => {
  const entries: (string | undefined)[] = [];
  const client = await oldClient(hosted(asking(entries)), () => sized(65_537));
  await expect(client.callTool({ name: 'deploy' })).rejects.toMatchObject({ code: -32602 });
  expect(entries).toEqual([undefined]);
});

test.each([
  ['100 000 levels of lists', answer(nested(100_000))],
  ['a number beyond all', JSON.parse('{"action":"accept","content":{"sure":1e999}}')],
  ['a number beyond all, before what is too large', JSON.parse(`{"a":1e999,"b":"${'x'.repeat(70_000)}"}`)],
  ['letters of several bytes', answer('€'.repeat(25_000))],
])('%s do not fit', (_what, hostile) => {
  expect(answersFit({ sure: hostile }, 16_384)).toBe(false);
});

test('no answers fit, and so does an answer that is none', () => {
  expect([undefined, {}, { sure: null }, { sure: 'yes' }].map((of) => answersFit(of, 6))).toEqual(
    Array(4).fill(true),
  );
});

test('an answer in the prototype is no answer, for those who read by the SDK’s own means either', async () => {
  const seen: unknown[] = [];
  const { post } = hosted((server) => {
    server.registerTool('deploy', {}, (ctx) => {
      seen.push(acceptedContent(ctx.mcpReq.inputResponses, 'sure'));
      return inputRequired({ inputRequests: { sure: sure.request } });
    });
  });
  const inputResponses = JSON.parse(`{"__proto__":${JSON.stringify(YES)},"other":{"action":"cancel"}}`);
  await post('tools/call', { name: 'deploy', inputResponses });
  expect(seen).toEqual([undefined]);
});

test('the answers are copied as they are', () => {
  const inherited = Object.assign(Object.create(YES), { other: { action: 'cancel' } });
  expect(ownAnswers(inherited)).toEqual({ other: { action: 'cancel' } });
  expect(Object.getPrototypeOf(ownAnswers(inherited))).toBe(Object.prototype);
});

/** A tool that asks `count` questions at once. */
const asksFor = (count: number, options = {}) =>
  hosted((server) => {
    const inputRequests = Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`q${at}`, sure.request]),
    );
    server.registerTool('deploy', {}, () => inputRequired({ inputRequests, requestState: 'plan' }));
  }, options);

test('a round asks 32 questions, and no more', async () => {
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

test('how many questions a round asks is the policy’s to say', async () => {
  const ask = (count: number) => asksFor(count, { maxQuestions: 40 }).post('tools/call', { name: 'deploy' });
  expect((await ask(40)).result?.resultType).toBe('input_required');
  expect((await ask(41)).error?.code).toBe(-32603);
});
