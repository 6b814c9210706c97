import { requestInit } from '@mrtr/harness/internal';
import { expect, test, vi } from 'vitest';
import { hosting, oldMessage, oldRequest, read } from './hosting.test-support.ts';
import { REQUEST_BYTES } from './limits.ts';
import { as, newCall, oldCall, TOO_MANY_CALLS, verifier, waiting } from './waiting.test-support.ts';

const TOO_MANY = {
  status: 200,
  error: expect.objectContaining({
    message: 'You have too many calls running. Try again when one has ended.',
  }),
};

test('the calls of one principal in both eras count together, and others are served', async () => {
  const { enters, session, release } = await waiting({
    verifier,
    policy: { limits: { requests: 32 } },
  });
  const ofAda = await session('ada');
  expect(await enters(as('ada', newCall()))).toBe('entered');
  expect(await enters(as('ada', oldCall(ofAda, 2)))).toBe('entered');
  expect(await enters(as('ada', newCall()))).toEqual(TOO_MANY);
  expect(await enters(as('ada', oldCall(ofAda, 3)))).toEqual(TOO_MANY);
  expect(await enters(as('bob', newCall()))).toBe('entered');
  release();
  await vi.waitFor(async () => expect(await enters(as('ada', newCall()))).toBe('entered'), 10_000);
});

test('a full server says so, and anonymous callers share it', async () => {
  const { enters } = await waiting({
    limits: { bytes: 3 * REQUEST_BYTES, bodyBytes: 5000, perPrincipal: 1 },
  });
  expect([await enters(newCall()), await enters(newCall())]).toEqual(['entered', 'entered']);
  expect(await enters(newCall())).toEqual({
    status: 503,
    error: { code: -32000, message: 'This server has too many requests running; try again later' },
  });
});

test('answers and cancellations come in when no call does', async () => {
  const { url, enters, session } = await waiting({
    limits: { bytes: 2 * REQUEST_BYTES, bodyBytes: 5000, perPrincipal: 1 },
  });
  const id = await session();
  expect(await enters(oldCall(id, 1))).toBe('entered');
  expect(await enters(oldCall(id, 2))).toMatchObject({ status: 503 });
  for (const message of [
    { id: 7, result: { action: 'accept', content: {} } },
    { method: 'notifications/cancelled', params: { requestId: 1 } },
  ]) {
    expect((await fetch(url, oldMessage(message, id))).status).toBe(202);
  }
});

test.each([
  // At 2026-07-28 a hang-up cancels the calls, and eight of them become abandoned.
  ['new', () => newCall(), 16],
  ['old', oldCall, 8],
])(
  'calls of %s clients that hang up leave no more handlers running than the limits',
  async (_era, callOf, limit) => {
    const { served, enters, session, release } = await waiting({ policy: { limits: { requests: 8 } } });
    const id = await session();
    for (let n = 0; n < limit; n++) {
      const client = new AbortController();
      expect(await enters({ ...callOf(id, n), signal: client.signal })).toBe('entered');
      client.abort();
    }
    for (let n = 0; n < 20; n++) expect(await enters(newCall())).toEqual(TOO_MANY_CALLS);
    expect(served.waiting).toBe(limit);
    // A broken stream frees its place, once its handler has ended.
    release();
    await vi.waitFor(async () => expect(await enters(newCall())).toBe('entered'), 10_000);
  },
);

/** Makes a call of an old client, which hangs up when it receives the question. Resolves with the question's id. */
async function hangsUpWhenAsked(url: URL, session: string, id: number): Promise<unknown> {
  const { body } = await fetch(url, oldRequest('tools/call', { name: 'ask' }, session, id));
  const events = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ''; ; text += (await events?.read())?.value ?? '') {
    const question = /^data: (.*elicitation.*)$/m.exec(text)?.[1];
    if (question === undefined) continue;
    await events?.cancel();
    return JSON.parse(question).id;
  }
}

test.each<[string, (url: URL, session: string, questions: unknown[]) => Promise<unknown>]>([
  [
    'its question is answered',
    (url, session, questions) =>
      Promise.all(
        questions.map((id) =>
          fetch(url, oldMessage({ id, result: { action: 'accept', content: {} } }, session)),
        ),
      ),
  ],
  [
    'its session ends',
    (url, session) => fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': session } }),
  ],
])('a call whose old client hung up when it was asked counts until %s', async (_what, ends) => {
  const { url, session } = await waiting({
    limits: { bytes: 5 * REQUEST_BYTES, bodyBytes: 5000, perPrincipal: 1 },
  });
  const id = await session();
  const questions: unknown[] = [];
  for (let n = 1; n <= 4; n++) questions.push(await hangsUpWhenAsked(url, id, n));
  const callWho = () => fetch(url, requestInit('tools/call', { name: 'who' }));
  for (let n = 0; n < 20; n++) expect((await callWho()).status).toBe(503);
  await ends(url, id, questions);
  await vi.waitFor(async () => expect((await callWho()).ok).toBe(true), 10_000);
});

test('the bodies of calls that wait are counted in bytes', async () => {
  const { enters } = await waiting({
    verifier,
    limits: { bytes: 4 * REQUEST_BYTES + 24_000, bodyBytes: 15_000, perPrincipal: 0.51 },
  });
  const call = () => newCall({ arguments: { x: 'x'.repeat(10_000) } });
  expect(await enters(as('ada', call()))).toBe('entered');
  expect(await enters(as('ada', call()))).toMatchObject({
    status: 429,
    error: { message: 'You have too many requests running; end one, or try again later' },
  });
  expect(await enters(as('ada', newCall()))).toBe('entered');
  expect(await enters(as('bob', call()))).toBe('entered');
  expect(await enters(as('bob', newCall({ arguments: { x: 'x'.repeat(4000) } })))).toMatchObject({
    status: 503,
  });
});

const LISTEN = requestInit('subscriptions/listen', { notifications: { toolsListChanged: true } });

test('subscriptions are limited for each principal and in all, and one that ends makes room', async () => {
  const { url } = await hosting({ verifier, limits: { subscriptions: 3, perPrincipal: 2 / 3 } });
  // `fetch` ends the stream of a response that is garbage collected, and a subscription with it.
  const held: Response[] = [];
  const listen = async (subject: string) => {
    const response = await fetch(url, as(subject, LISTEN));
    held.push(response);
    return response;
  };
  const [first, second] = [await listen('ada'), await listen('ada')];
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(await read(await listen('ada'))).toMatchObject({
    status: 429,
    error: { message: 'You have too many subscriptions; end one, or try again later' },
  });
  expect((await listen('bob')).status).toBe(200);
  expect((await listen('bob')).status).toBe(503);
  await first.body?.cancel();
  await vi.waitFor(async () => expect((await listen('ada')).ok).toBe(true), 10_000);
});
