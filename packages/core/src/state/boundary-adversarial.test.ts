/** Every state that a client may not present, and that it learns nothing from trying. */
import { expect, test } from 'vitest';
import { eventsOf, type Hosted, hosted, oldClient, type PostOptions } from '../hosted.test-support.ts';
import { textResult } from '../results.ts';
import { ARGUMENTS, as, asking, CALLS, PLAN, REJECTED, YES } from './asking.test-support.ts';
import { bytesOf, NOW, tokenOf } from './sealed.test-support.ts';

const DEPLOY = { name: 'deploy', arguments: ARGUMENTS };

/** The second request of a deployment that began with `token`: what is posted, where and by whom. */
interface Attempt {
  readonly token: string;
  readonly params: Record<string, unknown>;
  readonly options: PostOptions;
  readonly host: Hosted;
  /** Seconds after the first request. */
  readonly later: number;
}

const flipped = (token: string) => token.slice(0, 60) + (token[60] === 'A' ? 'B' : 'A') + token.slice(61);

const ATTEMPTS: [string, string, (attempt: Attempt) => Partial<Attempt>][] = [
  ['tampered with', 'tampered', ({ token }) => ({ token: flipped(token) })],
  ['cut short by a byte', 'tampered', ({ token }) => ({ token: tokenOf(bytesOf(token).subarray(0, -1)) })],
  ['cut short to nothing', 'malformed', () => ({ token: '' })],
  ['made up', 'malformed', () => ({ token: 'v1.{"plan":"mine"}' })],
  ['of another version', 'malformed', ({ token }) => ({ token: `v2.${token.slice(3)}` })],
  ['in another spelling', 'malformed', ({ token }) => ({ token: `${token}=` })],
  ['the author’s plaintext', 'malformed', () => ({ token: PLAN })],
  ['larger than the ceiling', 'too_large', ({ token }) => ({ token: token + 'A'.repeat(65_536) })],
  ['sealed with another key', 'unknown_key', () => ({ host: hosted(asking(), { keys: ['o'.repeat(32)] }) })],
  ['expired', 'expired', () => ({ later: 600 })],
  ['from the future', 'issued_in_the_future', () => ({ later: -61 })],
  ['of another tool', 'other_target', () => ({ params: { ...DEPLOY, name: 'destroy' } })],
  [
    'of other arguments',
    'other_arguments',
    () => ({ params: { ...DEPLOY, arguments: { service: 'bank' } } }),
  ],
  ['of arguments that are gone', 'other_arguments', () => ({ params: { name: 'deploy' } })],
  ['of another user', 'other_principal', () => ({ options: as('mallory') })],
  ['of a user who is not logged in any more', 'other_principal', () => ({ options: {} })],
];

test.each(ATTEMPTS)('state that is %s is rejected: %s', async (_what, reason, change) => {
  const entries: (string | undefined)[] = [];
  const states = eventsOf('mrtr:state');
  let now = NOW;
  const host = hosted(asking(entries), { now: () => now * 1000 });
  const { result } = await host.post('tools/call', DEPLOY, as('alice'));
  const token = result?.requestState as string;
  const honest = { token, params: DEPLOY, options: as('alice'), host, later: 0 };
  const attempt = { ...honest, ...change(honest) };
  now += attempt.later;

  const echo = { ...attempt.params, inputResponses: YES, requestState: attempt.token };
  expect(await attempt.host.post('tools/call', echo, attempt.options)).toEqual(REJECTED);

  const target = attempt.params.name as string;
  expect(entries).toEqual([undefined]);
  expect(attempt.host.errors).toEqual([`Error: requestState of tools/call ${target} rejected: ${reason}`]);
  expect(states.slice(1)).toEqual([
    { phase: 'rejected', method: 'tools/call', target, bytes: attempt.token.length, reason },
  ]);
});

test('what an honest client does in the same place is accepted', async () => {
  let now = NOW;
  const { post } = hosted(asking(), { now: () => now * 1000 });
  const { result } = await post('tools/call', DEPLOY, as('alice'));
  now += 599;
  const echo = { ...DEPLOY, inputResponses: YES, requestState: result?.requestState };
  expect((await post('tools/call', echo, as('alice'))).result).toMatchObject(textResult('Done.'));
});

test('state of another server with the same keys is rejected', async () => {
  const { result } = await hosted(asking()).post('tools/call', DEPLOY);
  const other = hosted(asking(), {}, 'other-server');
  const echo = { ...DEPLOY, inputResponses: YES, requestState: result?.requestState };
  expect(await other.post('tools/call', echo)).toEqual(REJECTED);
  expect(other.errors).toEqual(['Error: requestState of tools/call deploy rejected: other_audience']);
});

test('two servers that name the same audience serve each other’s calls', async () => {
  const shared = { audience: 'the-fleet' };
  const { result } = await hosted(asking(), shared, 'blue').post('tools/call', DEPLOY);
  const echo = { ...DEPLOY, inputResponses: YES, requestState: result?.requestState };
  const { result: done } = await hosted(asking(), shared, 'green').post('tools/call', echo);
  expect(done).toMatchObject(textResult('Done.'));
});

test.each([[42], [null], [true], [{ toString: 'v1.' }], [['v1.']]])(
  'state that is no text (%j) is rejected like any other',
  async (requestState) => {
    const entries: (string | undefined)[] = [];
    const { post } = hosted(asking(entries));
    expect(await post('tools/call', { ...DEPLOY, inputResponses: YES, requestState })).toEqual(REJECTED);
    expect(entries).toEqual([]);
  },
);

test('state of one method is rejected by the others', async () => {
  const { post } = hosted(asking());
  for (const [from, params] of CALLS) {
    const { result } = await post(from, params);
    for (const [to, otherParams] of CALLS) {
      if (from === to) continue;
      const echo = { ...otherParams, inputResponses: YES, requestState: result?.requestState };
      expect(await post(to, echo), `${from} to ${to}`).toEqual(REJECTED);
    }
  }
});

test('state does not open for arguments that are nested too deeply to compare', async () => {
  const entries: (string | undefined)[] = [];
  const { post, errors } = hosted(asking(entries));
  const { result } = await post('tools/call', DEPLOY);
  const arguments_ = JSON.parse(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`);
  const echo = { ...DEPLOY, arguments: arguments_, inputResponses: YES, requestState: result?.requestState };
  expect(await post('tools/call', echo)).toEqual(REJECTED);
  expect(entries).toEqual([undefined]);
  expect(errors).toEqual(['Error: requestState of tools/call deploy rejected: other_arguments']);
});

test('an old client that makes up state is told the same, and its handler is not entered', async () => {
  const entries: (string | undefined)[] = [];
  const host = hosted(asking(entries));
  const client = await oldClient(host, () => YES.sure);
  const forged = { ...DEPLOY, inputResponses: YES, requestState: PLAN };
  await expect(client.callTool(forged)).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining('Invalid or expired requestState'),
    data: { reason: 'invalid_request_state' },
  });
  expect(entries).toEqual([]);
});

test('an answer hidden in the prototype of the answers is no answer', async () => {
  const { post } = hosted(asking());
  const { result } = await post('tools/call', DEPLOY);
  const inputResponses = JSON.parse(`{"__proto__":${JSON.stringify(YES)}}`);
  const { result: again } = await post('tools/call', {
    ...DEPLOY,
    inputResponses,
    requestState: result?.requestState,
  });
  expect(again?.resultType).toBe('input_required');
});

test('sealing alone does not make state single-use: an honest retry is answered again', async () => {
  const { post } = hosted(asking());
  const { result } = await post('tools/call', DEPLOY);
  const echo = { ...DEPLOY, inputResponses: YES, requestState: result?.requestState };
  const [first, second] = [await post('tools/call', echo), await post('tools/call', echo)];
  expect(second).toEqual(first);
});

test('two calls on one connection at a time keep their states apart', async () => {
  const entries: (string | undefined)[] = [];
  const host = hosted(asking(entries));
  const states = eventsOf('mrtr:state');
  const client = await oldClient(host, () => YES.sure);
  const names = ['deploy', 'destroy', 'deploy', 'destroy'];
  const results = await Promise.all(names.map((name, n) => client.callTool({ name, arguments: { n } })));
  expect(results).toEqual(Array(4).fill(textResult('Done.')));
  expect(states.filter(({ phase }) => phase === 'opened').map(({ target }) => target)).toEqual(names);
});
