import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { eventsOf, hostTools, oldClient } from '../admission/hosted.test-support.ts';
import type { RequestStateOptions } from '../admission/policy.ts';
import { ask } from '../answers/ask.ts';
import { askLive } from '../answers/ask-live.ts';
import { readAnswer } from '../answers/read-answer.ts';
import { InvalidOption, UnprotectedServer } from '../errors.ts';
import { textResult } from '../results.ts';
import { isRefusal } from './answer.ts';
import { type ApprovalOptions, approval } from './approval.ts';
import { words } from './words.ts';

const LABELS = { approve: 'Pay', refuse: 'Do not pay' };
const WORDS = words`Pay ${'Ada'}?`;
const sure = approval(WORDS, LABELS);
const typed = approval(WORDS, { ...LABELS, type: 'ACME' });
const yes = { action: 'accept', content: { decision: 'approve' } };

test('the form has one required choice, the refusal first, and no default', () => {
  expect(sure.request).toEqual({
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: 'Pay “Ada”?',
      requestedSchema: {
        type: 'object',
        properties: {
          decision: {
            type: 'string',
            title: 'Decision',
            oneOf: [
              { const: 'refuse', title: 'Do not pay' },
              { const: 'approve', title: 'Pay' },
            ],
          },
        },
        required: ['decision'],
      },
    },
  });
});

const pay = (question = sure, options: RequestStateOptions = {}) => {
  const reads: unknown[] = [];
  const host = hostTools((server) => {
    server.registerTool('pay', {}, (ctx) => {
      const answer = readAnswer(ctx, 'sure', question);
      reads.push(answer, readAnswer(ctx, 'sure', question));
      if (answer.kind === 'accepted' || isRefusal(answer)) return textResult(answer.kind);
      return ask({ sure: question });
    });
  }, options);
  return { ...host, reads };
};

/** Sends `response`. Returns the handler's answer and the published event. */
async function readingOf(response: unknown, question = sure) {
  const events = eventsOf('mrtr:approval');
  const { post, reads } = pay(question);
  const { result } = await post('tools/call', { name: 'pay' });
  const retry = { name: 'pay', requestState: result?.requestState, inputResponses: { sure: response } };
  await post('tools/call', retry);
  return { answer: reads.at(-1), events };
}

const INVALID = { kind: 'invalid', issues: [{ message: 'Nothing was chosen that approves or refuses.' }] };

test.each<[string, unknown, unknown, outcome: string]>([
  ['an empty form', { action: 'accept', content: {} }, INVALID, 'invalid'],
  ['no content', { action: 'accept' }, { kind: 'missing' }, 'missing'],
  ['true', { action: 'accept', content: { decision: true } }, INVALID, 'invalid'],
  ['the label', { action: 'accept', content: { decision: 'Pay' } }, INVALID, 'invalid'],
  ['another value', { action: 'accept', content: { decision: 'approved' } }, INVALID, 'invalid'],
  ['a list', { action: 'accept', content: { decision: ['approve'] } }, INVALID, 'invalid'],
  ['another field', { action: 'accept', content: { approve: 'approve' } }, INVALID, 'invalid'],
  ['the refusal', { action: 'accept', content: { decision: 'refuse' } }, { kind: 'declined' }, 'refused'],
  ['a decline with the approval in it', { ...yes, action: 'decline' }, { kind: 'declined' }, 'declined'],
  ['a cancel', { action: 'cancel' }, { kind: 'cancelled' }, 'cancelled'],
])('%s approves nothing, and the operator learns how', async (_what, response, answer, outcome) => {
  expect(await readingOf(response)).toEqual({
    answer,
    events: [{ outcome, call: expect.any(String), target: 'pay' }],
  });
});

test.each<[string, object, string]>([
  ['the text', { decision: 'approve', typed: 'ACME' }, 'accepted'],
  ['the text between spaces', { decision: 'approve', typed: ' ACME ' }, 'accepted'],
  ['not another text', { decision: 'approve', typed: 'acme' }, 'invalid'],
  ['not an empty field', { decision: 'approve' }, 'invalid'],
  ['nothing for a refusal', { decision: 'refuse' }, 'declined'],
])('with a text to type, an answer needs %s', async (_what, content, kind) => {
  expect((await readingOf({ action: 'accept', content }, typed)).answer).toMatchObject({ kind });
});

test('an answer to other words, or to none, approves nothing, also where unasked answers are accepted', async () => {
  const reads: unknown[] = [];
  const asked = [approval(words`Pay ${'Bob'}?`, LABELS), sure];
  const { post } = hostTools(
    (server) => {
      server.registerTool('pay', {}, (ctx) => {
        reads.push(readAnswer(ctx, 'sure', sure));
        return ask({ sure: asked.shift() ?? sure });
      });
    },
    { unaskedAnswers: ['pay'] },
  );
  const inputResponses = { sure: { ...yes, 'mrtr.stamp': { call: 'c', asked: sure.digest } } };
  const { result } = await post('tools/call', { name: 'pay', inputResponses });
  await post('tools/call', { name: 'pay', requestState: result?.requestState, inputResponses });
  expect(reads).toEqual([{ kind: 'missing' }, { kind: 'missing' }]);
});

test('a receipt has the digest of the arguments that came, also after the handler has changed them', async () => {
  const receipts: unknown[] = [];
  const { post } = hostTools((server) => {
    server.registerTool('pay', { inputSchema: z.object({ to: z.any() }) }, (args, ctx) => {
      // `any` hands over the object that came in, and no copy.
      args.to.name = 'Eve';
      const answer = readAnswer(ctx, 'sure', sure);
      if (answer.kind !== 'accepted') return ask({ sure });
      receipts.push(answer.value.receipt.argumentsDigest);
      return textResult('Paid.');
    });
  });
  const call = { name: 'pay', arguments: { to: { name: 'Ada' } } };
  const { result } = await post('tools/call', call);
  await post('tools/call', { ...call, requestState: result?.requestState, inputResponses: { sure: yes } });
  expect(receipts).toEqual([hash('sha256', '{"to":{"name":"Ada"}}', 'base64url')]);
});

test('the receipt says what was approved, in which call and when', async () => {
  let now = 1_700_000_000_000;
  const events = eventsOf('mrtr:approval');
  const { post, reads } = pay(sure, { now: () => now, principal: () => 'ada' });
  const { result } = await post('tools/call', { name: 'pay' });
  now += 5_400;
  const inputResponses = { sure: { ...yes, 'mrtr.stamp': { call: 'forged', answeredAt: 1 } } };
  await post('tools/call', { name: 'pay', requestState: result?.requestState, inputResponses });
  const receipt = {
    id: expect.stringMatching(/^[\w-]{22}$/),
    words: 'Pay “Ada”?',
    wordsDigest: hash('sha256', 'Pay “Ada”?', 'base64url'),
    assurance: 'form',
    call: expect.stringMatching(/^[\w-]{22}$/),
    tool: 'pay',
    argumentsDigest: hash('sha256', '{}', 'base64url'),
    pseudonym: expect.stringMatching(/^[\w-]{22}$/),
    askedAt: 1_700_000_000,
    answeredAt: 1_700_000_005,
  };
  expect(reads.at(-1)).toEqual({ kind: 'accepted', value: { approved: true, receipt } });
  expect(reads.at(-2)).toEqual(reads.at(-1));
  // Reading the answer again publishes nothing more.
  expect(events).toEqual([{ outcome: 'approved', call: events[0]?.call, target: 'pay', receipt }]);
  expect(events[0]?.receipt).toEqual((reads.at(-1) as { value: { receipt: unknown } }).value.receipt);
});

test('an old client gets the choice as enum with enumNames, over its stream and from the SDK’s shim', async () => {
  const asked: unknown[] = [];
  const user = (params: unknown) => {
    asked.push((params as { requestedSchema: { properties: object } }).requestedSchema.properties);
    return yes;
  };
  const host = pay();
  await (await oldClient(host, user)).callTool({ name: 'pay' });
  const live = hostTools((server) => {
    server.registerTool('pay', {}, async (ctx) => {
      (host.reads as unknown[]).push(await askLive(ctx, 'sure', sure));
      return textResult('');
    });
  });
  await (await oldClient(live, user)).callTool({ name: 'pay' });
  const receipt = expect.objectContaining({ tool: 'pay' });
  expect(host.reads.slice(-2)).toEqual(
    Array(2).fill({ kind: 'accepted', value: { approved: true, receipt } }),
  );
  const choice = { enum: ['refuse', 'approve'], enumNames: ['Do not pay', 'Pay'] };
  expect(asked).toEqual(Array(2).fill({ decision: { type: 'string', title: 'Decision', ...choice } }));
});

test('a server without a boundary has no approvals', () => {
  expect(() => sure.read(yes)).toThrow(UnprotectedServer);
});

test.each<[string, unknown, unknown, RegExp]>([
  ['text in the place of words', 'Pay?', LABELS, /words must be made with words/],
  ['words that are empty', words``, LABELS, /words must be a text that is not empty/],
  ['no label', WORDS, { approve: 'Pay' }, /refuse must be a text/],
  ['an empty label', WORDS, { ...LABELS, approve: '' }, /approve must be a text/],
  ['a label with a mark in it', WORDS, { ...LABELS, approve: 'Pay\u202e' }, /approve must be a text/],
  ['the same label twice', WORDS, { approve: 'Pay', refuse: 'pay' }, /approve and refuse are both 'Pay'/],
  ['a fallback', WORDS, { ...LABELS, fallback: true }, /there is no option 'fallback'/],
  ['an unset text to type', WORDS, { ...LABELS, type: undefined }, /type must be a text/],
])('rejects %s', (_what, given, options, message) => {
  const make = () => approval(given as typeof WORDS, options as ApprovalOptions);
  expect(make).toThrow(InvalidOption);
  expect(make).toThrow(message);
});
