/** Attacks with answers and questions: unasked answers, odd keys, and kinds that a client did not declare. */
import {
  acceptedContent,
  type InputRequests,
  inputRequired,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readAnswer } from '../answers/read-answer.ts';
import { textResult } from '../results.ts';
import { ARGUMENTS, beginCall, PLAN, sure, YES } from './asking.test-support.ts';
import { eventsOf, hostTools, oldClient, type TestOptions } from './hosted.test-support.ts';

const DEPLOY = { name: 'deploy', arguments: ARGUMENTS };

/** A tool that deletes when `isYes` finds a yes, and asks `requests` before. `deleted` collects the deletions. */
function deleting(
  isYes: (ctx: ServerContext) => boolean,
  requests: InputRequests = { sure: sure.request },
  options: TestOptions = {},
  requestState?: string,
) {
  const deleted: number[] = [];
  const host = hostTools((server) => {
    server.registerTool('deploy', { inputSchema: z.looseObject({}) }, (_, ctx) => {
      if (!isYes(ctx)) {
        return inputRequired({
          inputRequests: requests,
          ...(requestState !== undefined && { requestState }),
        });
      }
      deleted.push(deleted.length);
      return textResult('Deleted.');
    });
  }, options);
  return { ...host, deleted };
}

/** Four ways in which a handler may look for a yes. Only the first compares the words of the question. */
const READERS: [string, (ctx: ServerContext) => boolean][] = [
  ['readAnswer', (ctx) => readAnswer(ctx, 'sure', sure).kind === 'accepted'],
  ['the SDK’s acceptedContent', (ctx) => acceptedContent(ctx.mcpReq.inputResponses, 'sure') !== undefined],
  ['a look at the answers', (ctx) => ctx.mcpReq.inputResponses?.sure !== undefined],
  ['a check that there are answers', (ctx) => ctx.mcpReq.inputResponses !== undefined],
];

test.each(READERS)(
  'a first request that brings an answer does nothing, read with %s',
  async (_how, isYes) => {
    const site = deleting(isYes);
    for (const answers of [YES, { ...YES, other: YES.sure }, {}]) {
      const { result } = await site.post('tools/call', { ...DEPLOY, inputResponses: answers });
      expect(result?.resultType).toBe('input_required');
    }
    expect(site.deleted).toEqual([]);
  },
);

test.each(READERS.slice(0, 3))(
  'an answer to a key that was not asked does nothing, read with %s',
  async (_how, isYes) => {
    const site = deleting(isYes, { other: sure.request });
    const retry = await beginCall(site);
    const inputResponses = { ...YES, other: YES.sure };
    expect((await site.post('tools/call', { ...retry, inputResponses })).result?.resultType).toBe(
      'input_required',
    );
    expect(site.deleted).toEqual([]);
  },
);

test('a round of 255 questions, the most that a token holds, is asked and answered', async () => {
  const keys = Array.from({ length: 255 }, (_, at) => `q${at}`);
  const requests = Object.fromEntries(keys.map((key) => [key, sure.request]));
  const isYes = (ctx: ServerContext) => keys.every((key) => readAnswer(ctx, key, sure).kind === 'accepted');
  const site = deleting(isYes, requests, { fixed: { questions: 255 } });
  const inputResponses = Object.fromEntries(keys.map((key) => [key, YES.sure]));
  await site.post('tools/call', { ...(await beginCall(site)), inputResponses });
  expect(site.deleted).toEqual([0]);
});

const BAD_KEY = "InvalidDefinition: A question's key has to be well-formed text of at most 65535 bytes.";
/** Results that an author builds by hand. */
const MISTAKES: [string, object, string | RegExp][] = [
  ['a key of 70 kB in few characters', { inputRequests: { ['€'.repeat(25_000)]: sure.request } }, BAD_KEY],
  ['a key that is half a surrogate pair', { inputRequests: { '\ud800': sure.request } }, BAD_KEY],
  ['a question that is null', { inputRequests: { sure: null } }, /^InvalidDefinition/],
  [
    'a question that is not JSON',
    { inputRequests: { sure: { method: 'elicitation/create', params: { n: 1n } } } },
    /^TypeError/,
  ],
  ...[{ plan: 1 }, 42, null, ['a'], 'half a pair: \ud800'].map((requestState): [string, object, RegExp] => [
    `state that is no well-formed text (${JSON.stringify(requestState)})`,
    { inputRequests: { sure: sure.request }, requestState },
    /^InvalidDefinition: requestState has to be well-formed text/,
  ]),
];

test.each(MISTAKES)(
  '%s is an error without details for the client, and with them for `onerror`',
  async (_what, asked, why) => {
    const { post, errors } = hostTools(
      (server) => {
        server.registerTool('deploy', {}, () => ({ resultType: 'input_required', ...asked }) as never);
      },
      { limits: { stateBytes: 1_000_000 } },
    );
    expect(await post('tools/call', { name: 'deploy' })).toEqual({
      error: { code: -32603, message: 'The server cannot keep the state of this call' },
    });
    expect(errors).toEqual([typeof why === 'string' ? why : expect.stringMatching(why)]);
  },
);

const url = inputRequired.elicitUrl({ message: 'Pay here', url: 'https://pay.example' });
const model = { messages: [], maxTokens: 1 };

test.each<[string, unknown, InputRequests, unknown]>([
  ['nothing', {}, { sure: sure.request }, { elicitation: { form: {} } }],
  [
    'forms only, and one of two',
    { elicitation: {} },
    { sure: sure.request, url },
    { elicitation: { url: {} } },
  ],
  [
    'forms only, and no model',
    { elicitation: {} },
    { q: inputRequired.createMessage(model) },
    { sampling: {} },
  ],
  [
    'a model without tools',
    { sampling: {} },
    { q: inputRequired.createMessage({ ...model, tools: [] }) },
    { sampling: { tools: {} } },
  ],
  [
    'everything but roots',
    { elicitation: {}, sampling: {} },
    { q: inputRequired.listRoots() },
    { roots: {} },
  ],
])(
  'a client that declares %s is not asked for the rest, and sees no state',
  async (_what, capabilities, requests, missing) => {
    const site = deleting(() => false, requests, {}, PLAN);
    const response = await site.send('tools/call', DEPLOY, { capabilities });
    expect(response.status).toBe(400);
    const text = await response.text();
    expect(JSON.parse(text).error).toMatchObject({ code: -32021, data: { requiredCapabilities: missing } });
    expect(text).not.toContain(PLAN);
    expect(text).not.toContain('v1.');
  },
);

test('an old client that brings an answer with its first request is asked all the same', async () => {
  const [, isYes] = READERS[1] as (typeof READERS)[number];
  const site = deleting(isYes);
  const client = await oldClient(site, () => ({ action: 'decline' }));
  const forged = { ...DEPLOY, inputResponses: YES };
  await client.callTool(forged);
  expect(site.deleted).toEqual([]);
});

test('a question that the SDK rejects ends its round as an error for observers', async () => {
  const rounds = eventsOf('mrtr:round');
  await deleting(() => false).post('tools/call', DEPLOY, { capabilities: {} });
  expect(rounds.at(-1)).toMatchObject({ phase: 'end', outcome: 'error' });
});
