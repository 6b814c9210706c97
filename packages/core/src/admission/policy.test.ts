import { inspect } from 'node:util';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test, vi } from 'vitest';
import { InvalidOption } from '../errors.ts';
import { textResult } from '../results.ts';
import { as, asking, beginCall, REJECTED, YES } from './asking.test-support.ts';
import { eventsOf, type Hosted, hostTools, oldClient } from './hosted.test-support.ts';
import {
  type KeyReadingOptions,
  keyRingOf,
  partsOf,
  type RequestStateOptions,
  requestStatePolicy,
  type SingleUsePolicy,
} from './policy.ts';

const KEYS = ['k'.repeat(32)];

/** A validated access token. */
const bearer = (token: string, sub?: unknown, clientId = 'app'): AuthInfo => ({
  token,
  clientId,
  scopes: [],
  ...(sub !== undefined && { extra: { sub } }),
});

/** The reply to a call that `first` began and `second` resumes. */
async function handOver(first: AuthInfo, second: AuthInfo, options?: RequestStateOptions): Promise<unknown> {
  const { post } = hostTools(asking(), options);
  const retry = await beginCall({ post }, { authInfo: first });
  return post('tools/call', { ...retry, inputResponses: YES }, { authInfo: second });
}

const accepted = { result: expect.objectContaining(textResult('Done.')) };
const tokenFrom = (iss: unknown): AuthInfo => ({ ...bearer('1'), extra: { sub: 'alice', iss } });

test.each([
  ['a refreshed token of the same subject', bearer('1', 'alice'), bearer('2', 'alice')],
  ['a refreshed token of the same subject and issuer', tokenFrom('https://a'), tokenFrom('https://a')],
  ['the same token, where no subject is known', bearer('1'), bearer('1')],
])('by default %s resumes a call', async (_whom, first, second) => {
  expect(await handOver(first, second)).toEqual(accepted);
});

test.each([
  ['another subject of the same client', bearer('1', 'alice'), bearer('1', 'bob')],
  ['the same subject at another client', bearer('1', 'alice'), bearer('1', 'alice', 'web')],
  ['the same subject of another issuer', tokenFrom('https://a'), tokenFrom('https://b')],
  ['the same subject without an issuer', tokenFrom('https://a'), bearer('1', 'alice')],
  ['another token, where no subject is known', bearer('1'), bearer('2')],
  ['a subject that is spelt like a token', bearer('alice'), bearer('2', 'alice')],
  ['another token of a subject that is not text', bearer('1', 7), bearer('2', 7)],
])('by default %s does not resume a call', async (_whom, first, second) => {
  expect(await handOver(first, second)).toEqual(REJECTED);
});

test.each<[string, (id: string | undefined) => string | undefined | Promise<string | undefined>]>([
  ['directly', (id) => id],
  ['as a promise', async (id) => id],
])('a policy can identify the caller itself, %s', async (_how, give) => {
  const options: RequestStateOptions = { principal: ({ http }) => give(http?.authInfo?.clientId) };
  expect(await handOver(bearer('1', 'alice'), bearer('2', 'bob'), options)).toEqual(accepted);
  expect(await handOver(bearer('1', 'alice'), bearer('1', 'alice', 'web'), options)).toEqual(REJECTED);
});

const LEAK = 'identity provider down at 10.0.0.7';

test.each<[string, () => unknown, string]>([
  [
    'throws',
    () => {
      throw new Error(LEAK);
    },
    `Error: ${LEAK}`,
  ],
  ['rejects', () => Promise.reject(new Error(LEAK)), `Error: ${LEAK}`],
  [
    'gives a number',
    () => 42,
    "InvalidOption: The policy's principal gave a value of type number. It must give a string, or undefined.",
  ],
  [
    'gives a promise of an object',
    async () => ({ sub: LEAK }),
    "InvalidOption: The policy's principal gave a value of type object. It must give a string, or undefined.",
  ],
])(
  'where the principal callback %s, the client gets -32603 and `onerror` the reason',
  async (_what, give, why) => {
    const entries: (string | undefined)[] = [];
    const rejections = eventsOf('mrtr:rejection');
    const { post, errors } = hostTools(asking(entries), { principal: give as () => string });
    expect(await post('tools/call', { name: 'deploy' }, as('alice'))).toEqual({
      error: { code: -32603, message: 'Internal error' },
    });
    expect(errors).toEqual([why]);
    expect(rejections.map(({ reason }) => reason)).toEqual(['principal']);
    expect(entries).toEqual([]);
  },
);

test('the ledger of this process serves a second copy of this module too', async () => {
  const ledger = partsOf(requestStatePolicy()).singleUse?.ledger;
  vi.resetModules();
  const copy = await import('./policy.ts');
  expect(partsOf(copy.requestStatePolicy()).singleUse?.ledger).toBe(ledger);
  expect(partsOf(requestStatePolicy({ keys: KEYS, singleUse: 'reject' })).singleUse?.ledger).toBe(ledger);
});

/** The warnings that `run` emits in a process that has not warned before. */
async function warningsOf(run: () => unknown): Promise<unknown[][]> {
  Reflect.deleteProperty(globalThis, Symbol.for('mrtr.warned'));
  const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => emitWarning.mockRestore());
  await run();
  return emitWarning.mock.calls;
}

/** A call of an old client over its stream. */
const callOverStream = async (host: Hosted) =>
  (await oldClient(host, () => YES.sure)).callTool({ name: 'deploy' });

test('the process warns of a random key once, and only over HTTP', async () => {
  const makeHost = () => hostTools(asking(), { keys: undefined });
  expect(await warningsOf(() => callOverStream(makeHost()))).toEqual([]);
  const host = makeHost();
  const warnings = await warningsOf(async () => {
    for (const { post } of [host, host, makeHost()]) await post('tools/call', { name: 'deploy' });
  });
  expect(warnings).toEqual([
    [
      'requestState is sealed with a random key of this process, over HTTP: no other instance and no restarted ' +
        'one can resume a call. Give requestStatePolicy the same `keys` everywhere.',
      { code: 'MRTR_EPHEMERAL_KEY' },
    ],
  ]);
});

test('the process warns once, at the first call of an old client that createMcpHandler serves', async () => {
  const [degrading, host] = [hostTools(asking(), { legacy: 'degrade' }), hostTools(asking())];
  const callWithoutStream = ({ post }: Hosted) => post('tools/call', { name: 'deploy' }, { legacy: true });
  const silent = await warningsOf(async () => {
    await callOverStream(host);
    await host.post('tools/call', { name: 'deploy' });
    await callWithoutStream(degrading);
  });
  expect(silent).toEqual([]);
  const warnings = await warningsOf(async () => {
    for (const _ of [1, 2]) expect((await callWithoutStream(host)).result).toMatchObject({ isError: true });
  });
  expect(warnings).toEqual([
    [
      expect.stringMatching(/createMcpHandler.* `fallback`.*createMcpMount and serveHttp.*'degrade'/),
      { code: 'MRTR_STATELESS_OLD_CLIENT' },
    ],
  ]);
});

test.each<[string, RequestStateOptions]>([
  ['without a ledger', { keys: KEYS }],
  ['with single use in this process alone', { keys: KEYS, singleUse: 'reject' }],
])(
  'the process warns of keys %s once, because a retry that is sent to two instances is served twice',
  async (_what, options) => {
    const warnings = await warningsOf(() => {
      for (const _ of Array(3)) requestStatePolicy(options);
    });
    expect(warnings).toEqual([
      [expect.stringContaining('Give all instances one `ledger`'), { code: 'MRTR_OWN_LEDGER' }],
    ]);
  },
);

test.each<[string, RequestStateOptions]>([
  ['without keys', {}],
  ['with keys and `singleUse: false`', { keys: KEYS, singleUse: false }],
])('a policy %s brings no warning', async (_what, options) => {
  expect(await warningsOf(() => requestStatePolicy(options))).toEqual([]);
});

test('the ledger of the process has no limit per principal: nobody can have it forget an approval of their own', async () => {
  const { ledger } = partsOf(requestStatePolicy({ now: () => 0 })).singleUse as SingleUsePolicy;
  const lease = (id: string) =>
    ledger.lease({
      id,
      answers: '',
      issuedAt: 0,
      expiresAt: 600_000,
      leaseSeconds: 300,
      pseudonym: 'ada',
      now: 0,
    });
  const first = await lease('first');
  if (first.kind === 'first') await ledger.settle('first', first.lease, 'done');
  for (let n = 0; n < 2000; n++) await lease(`${n}`);
  expect(await lease('first')).toEqual({ kind: 'settled', result: 'done', answers: '' });
});

test('a policy shows none of its parts', () => {
  const policy = requestStatePolicy({ keys: KEYS, audience: 'shop' });
  expect(Object.keys(policy)).toEqual(['with']);
  expect(JSON.stringify(policy) + inspect(policy)).not.toMatch(/ring|shop/);
});

test('`with` shares the keys, the ledger and the limits, and checks its options', () => {
  const policy = requestStatePolicy({ keys: KEYS, audience: 'shop', singleUse: 'reject' });
  const changed = partsOf(policy.with({ audience: 'bank', legacy: undefined }));
  expect(changed).toEqual({ ...partsOf(policy), audience: 'bank' });
  expect(changed.running).toBe(partsOf(policy).running);
  expect(() => policy.with({ ttlSeconds: 1 } as object)).toThrow(
    /^policy\.with: there is no option 'ttlSeconds'\./,
  );
});

/** A policy whose keys a test changes, and its readings. */
async function reading(first: () => unknown, keysSeconds = 60) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const errors: Error[] = [];
  const read = vi.fn(first as () => Awaited<ReturnType<KeyReadingOptions['keys']>> | Promise<string[]>);
  const policy = await requestStatePolicy({
    keys: read,
    keysSeconds,
    onerror: (error) => errors.push(error),
  });
  const reads = () => vi.advanceTimersByTimeAsync(keysSeconds * 1000);
  const keys = () => keyRingOf(policy).length;
  return { policy, read, reads, keys, errors };
}
const [ONE, TWO] = ['1'.repeat(32), '2'.repeat(32)];

test('keys are read at the start, and again and again; the policies made from it have them too', async () => {
  const { policy, read, reads, keys } = await reading(() => [ONE]);
  const other = policy.with({ audience: 'other' });
  read.mockImplementation(() => [TWO, ONE]);
  expect(keys()).toBe(1);
  await reads();
  expect([keys(), keyRingOf(other)]).toEqual([2, keyRingOf(policy)]);
  read.mockImplementation(async () => [TWO]);
  await reads();
  expect([keys(), read.mock.calls.length]).toEqual([1, 3]);
});

test('a first reading that fails is an error at the start', async () => {
  await expect(reading(() => Promise.reject(new Error('vault is sealed')))).rejects.toThrow(
    'vault is sealed',
  );
  await expect(reading(() => [undefined])).rejects.toThrow(InvalidOption);
});

test.each([
  ['fails', () => Promise.reject(new Error('vault is sealed')), 'vault is sealed'],
  ['gives no keys', () => [], '`keys` is empty'],
  ['gives an unset one', () => [undefined], 'keys[0] is undefined'],
])('a later reading that %s keeps the keys, and `onerror` gets the error', async (_what, fails, why) => {
  const { read, reads, keys, errors } = await reading(() => [ONE, TWO]);
  read.mockImplementation(fails as () => Promise<string[]>);
  await reads();
  expect([keys(), errors.map(({ message }) => message)]).toEqual([
    2,
    ['The keys could not be read again; the old ones stay.'],
  ]);
  expect(errors[0]).toMatchObject({ cause: { message: expect.stringContaining(why) } });
  read.mockImplementation(() => [TWO]);
  await reads();
  expect(keys()).toBe(1);
});

test('two readings never run at once', async () => {
  const { read, reads, errors } = await reading(() => [ONE]);
  let goOn = (_keys: string[]) => {};
  read.mockImplementation(() => new Promise((resolve) => (goOn = resolve)) as never);
  for (const _ of [1, 2, 3]) await reads();
  expect(read).toHaveBeenCalledTimes(2);
  expect(errors.map(({ message }) => message)).toEqual(
    Array(2).fill('The keys are still being read; the old ones stay.'),
  );
  goOn([TWO]);
  await reads();
  expect(read).toHaveBeenCalledTimes(3);
});
