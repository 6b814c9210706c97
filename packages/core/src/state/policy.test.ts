import type { AuthInfo } from '@modelcontextprotocol/server';
import { expect, test, vi } from 'vitest';
import { InvalidPolicy } from '../errors.ts';
import { hosted } from '../hosted.test-support.ts';
import { textResult } from '../results.ts';
import { asking, REJECTED, YES } from './asking.test-support.ts';
import { keyRing } from './key-ring.ts';
import { type RequestStateOptions, requestStatePolicy } from './policy.ts';

const KEYS = ['k'.repeat(32)];

test('everything has a default', () => {
  expect(requestStatePolicy()).toEqual({
    ring: [
      {
        id: expect.any(Buffer),
        cipher: expect.any(Buffer),
        salt: expect.any(String),
        atRest: expect.any(Buffer),
        naming: expect.any(Buffer),
      },
    ],
    ephemeral: true,
    ttlSeconds: 600,
    maxBytes: 65_536,
    maxRounds: 10,
    maxQuestions: 32,
    maxAnswerBytes: 16_384,
    audience: undefined,
    principal: expect.any(Function),
    legacy: 'shim',
    now: Date.now,
  });
});

test('what is set is taken', () => {
  const principal = () => 'everybody';
  const now = () => 0;
  const options = {
    ttlSeconds: 1,
    maxBytes: 2,
    maxRounds: 3,
    maxQuestions: 4,
    maxAnswerBytes: 5,
    audience: 'a',
    principal,
    legacy: 'degrade',
    now,
  } as const;
  expect(requestStatePolicy({ keys: KEYS, ...options })).toEqual({
    ring: keyRing(KEYS),
    ephemeral: false,
    ...options,
  });
});

test.each<[string, RequestStateOptions, string]>([
  ['no time', { ttlSeconds: 0 }, 'ttlSeconds must be a whole number from 1 to 16777215; it is 0.'],
  [
    'more time than the header holds',
    { ttlSeconds: 2 ** 24 },
    'ttlSeconds must be a whole number from 1 to 16777215; it is 16777216.',
  ],
  ['half a second', { ttlSeconds: 0.5 }, 'ttlSeconds must be a whole number from 1 to 16777215; it is 0.5.'],
  [
    'no number',
    { ttlSeconds: Number.NaN },
    'ttlSeconds must be a whole number from 1 to 16777215; it is NaN.',
  ],
  ['no room', { maxBytes: 0 }, 'maxBytes must be a whole number from 1 to 9007199254740991; it is 0.'],
  [
    'room without end',
    { maxBytes: Number.POSITIVE_INFINITY },
    'maxBytes must be a whole number from 1 to 9007199254740991; it is Infinity.',
  ],
  [
    'more rounds than the header counts',
    { maxRounds: 256 },
    'maxRounds must be a whole number from 1 to 255; it is 256.',
  ],
  [
    'no question',
    { maxQuestions: 0 },
    'maxQuestions must be a whole number from 1 to 9007199254740991; it is 0.',
  ],
  [
    'half an answer',
    { maxAnswerBytes: 0.5 },
    'maxAnswerBytes must be a whole number from 1 to 9007199254740991; it is 0.5.',
  ],
  [
    'an empty ring',
    { keys: [] },
    'The key ring is empty. Give at least one secret of 32 bytes, or leave `keys` out.',
  ],
  [
    'no time to serve a round',
    { leaseSeconds: 0, singleUse: 'reject' },
    'leaseSeconds must be a whole number from 1 to 16777215; it is 0.',
  ],
])('a policy with %s is refused when it is made', (_what, options, message) => {
  expect(() => requestStatePolicy(options)).toThrow(new InvalidPolicy(message));
});

/** A validated access token. */
const bearer = (token: string, sub?: unknown, clientId = 'app'): AuthInfo => ({
  token,
  clientId,
  scopes: [],
  ...(sub !== undefined && { extra: { sub } }),
});

/** What becomes of a call that `first` began and `second` goes on with. */
async function handOver(first: AuthInfo, second: AuthInfo, options?: RequestStateOptions): Promise<unknown> {
  const { post } = hosted(asking(), options);
  const { result } = await post('tools/call', { name: 'deploy' }, { authInfo: first });
  const echo = { name: 'deploy', inputResponses: YES, requestState: result?.requestState };
  return post('tools/call', echo, { authInfo: second });
}

const accepted = { result: expect.objectContaining(textResult('Done.')) };

test.each([
  ['a refreshed token of the same subject', bearer('1', 'alice'), bearer('2', 'alice')],
  ['the same token, where no subject is known', bearer('1'), bearer('1')],
])('by default, a call is gone on with by %s', async (_whom, first, second) => {
  expect(await handOver(first, second)).toEqual(accepted);
});

test.each([
  ['another subject of the same client', bearer('1', 'alice'), bearer('1', 'bob')],
  ['the same subject at another client', bearer('1', 'alice'), bearer('1', 'alice', 'web')],
  ['another token, where no subject is known', bearer('1'), bearer('2')],
  ['a subject that is spelt like a token', bearer('alice'), bearer('2', 'alice')],
  ['another token of a subject that is no text', bearer('1', 7), bearer('2', 7)],
])('by default, a call is not gone on with by %s', async (_whom, first, second) => {
  expect(await handOver(first, second)).toEqual(REJECTED);
});

test('a policy may say for itself who is calling', async () => {
  const options: RequestStateOptions = { principal: ({ http }) => http?.authInfo?.clientId };
  expect(await handOver(bearer('1', 'alice'), bearer('2', 'bob'), options)).toEqual(accepted);
  expect(await handOver(bearer('1', 'alice'), bearer('1', 'alice', 'web'), options)).toEqual(REJECTED);
});

test('a random key is warned about once, over HTTP, however many requests are served', async () => {
  // Whether this process has warned before must not matter, so the modules are loaded anew.
  vi.resetModules();
  const fresh = await import('../hosted.test-support.ts');
  const { asking } = await import('./asking.test-support.ts');
  const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const host = fresh.hosted(asking(), { keys: undefined });
  const client = await fresh.oldClient(host, () => YES.sure);
  await client.callTool({ name: 'deploy' });
  expect(emitWarning.mock.calls).toEqual([]);
  for (const _ of Array(3)) await host.post('tools/call', { name: 'deploy' });
  const { calls } = emitWarning.mock;
  emitWarning.mockRestore();
  expect(calls).toEqual([
    [
      'requestState is sealed with a random key of this process, over HTTP: no other instance and no restarted ' +
        'one can go on with a call. Give requestStatePolicy the same `keys` everywhere.',
      { code: 'MRTR_EPHEMERAL_KEY' },
    ],
  ]);
});
