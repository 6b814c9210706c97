import { InvalidOption } from '@mrtr/core';
import { requestInit } from '@mrtr/harness/internal';
import { expect, test } from 'vitest';
import { hosting, INITIALIZE, modernClient, oldClient, read } from './hosting.test-support.ts';
import { listVerifier } from './list-verifier.ts';

const SECRET = 'a secret of sixteen and more';

const subjectOf = async (list: string, token: string) =>
  (await listVerifier(list).verifyAccessToken(token)).extra?.sub;

test('a list names subjects and their tokens', async () => {
  const list = ` alice = ${SECRET}1, bob=${SECRET}2,alice=${SECRET}3, `;
  const subjects = [1, 2, 3].map((n) => subjectOf(list, `${SECRET}${n}`));
  expect(await Promise.all(subjects)).toEqual(['alice', 'bob', 'alice']);
});

test('one secret alone is accepted, with or without base64 padding', async () => {
  for (const token of [SECRET, `${SECRET}=`, `${SECRET}==`]) {
    expect(await subjectOf(token, token)).toBe('token');
    expect(await subjectOf(`alice=${token}`, token)).toBe('alice');
  }
});

test.each([
  ['', 'The token list is empty. Write subject=secret, or one secret.'],
  [' , ', 'The token list is empty. Write subject=secret, or one secret.'],
  [`=${SECRET}`, 'A token has no subject before its "=".'],
  ['alice=short', "The token of 'alice' is under 16 characters: it can be guessed."],
  ['alice=', "The token of 'token' is under 16 characters: it can be guessed."],
  [`alice=${SECRET},bob=${SECRET}`, "'alice' and 'bob' have the same token."],
])('the list `%s` is rejected', (list, message) => {
  expect(() => listVerifier(list)).toThrow(new InvalidOption(message));
});

test('a list that is no text is rejected', () => {
  const list = [{ subject: 'alice', token: SECRET }] as never;
  const message = 'listVerifier takes a text: alice=secret1,bob=secret2, or one secret.';
  expect(() => listVerifier(list)).toThrow(new InvalidOption(message));
});

const TOKENS = { alice: 'token-of-alice-1', again: 'token-of-alice-2', bob: 'token-of-bob-one' };
const hostWithTokens = () =>
  hosting({
    verifier: listVerifier(`alice=${TOKENS.alice},alice=${TOKENS.again},bob=${TOKENS.bob}`),
  });
const as = (token: string) => ({ authorization: `Bearer ${token}` });

test.each([
  ['without a token', {}],
  ['with an unknown one', as('token-of-nobody1')],
  ['with the beginning of one', as(TOKENS.alice.slice(0, -1))],
  ['with an empty one', as('')],
  ['with one of another scheme', { authorization: `Basic ${TOKENS.alice}` }],
])('a request %s is rejected, whatever it asks for', async (_what, headers) => {
  const { url } = await hostWithTokens();
  const requests: RequestInit[] = [
    requestInit('tools/list', {}, { headers }),
    { ...INITIALIZE, headers: { ...INITIALIZE.headers, ...headers } },
    { headers },
    { method: 'DELETE', headers },
    { ...requestInit('tools/list', {}, { headers }), body: 'not json' },
  ];
  for (const request of requests) {
    const response = await fetch(url, request);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/);
    expect(await response.text()).not.toContain('token-of');
  }
});

test('a health check needs no token', async () => {
  const { url } = await hostWithTokens();
  expect((await fetch(new URL('/healthz', url))).status).toBe(200);
});

test('a token’s subject is who calls, on either era', async () => {
  const { url } = await hostWithTokens();
  const [modern, old] = await Promise.all([modernClient(url, TOKENS.bob), oldClient(url, TOKENS.alice)]);
  expect((await modern.callTool({ name: 'who' })).content).toEqual([{ type: 'text', text: 'bob' }]);
  expect((await old.callTool({ name: 'who' })).content).toEqual([{ type: 'text', text: 'alice' }]);
});

test('alice resumes her call with her other token, and bob does not resume it', async () => {
  const { url } = await hostWithTokens();
  const ask = async (token: string, retry: object = {}) =>
    read(await fetch(url, requestInit('tools/call', { name: 'ask', ...retry }, { headers: as(token) })));
  const { result } = await ask(TOKENS.alice);
  const inputResponses = { q: { action: 'accept', content: {} } };
  const retry = { requestState: result?.requestState, inputResponses };
  expect((await ask(TOKENS.bob, retry)).error).toMatchObject({ code: -32602 });
  expect((await ask(TOKENS.again, retry)).result).toMatchObject({ content: [{ text: 'Asked.' }] });
});
