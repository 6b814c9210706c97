/** Attacks with state: changed, stolen, replayed. The client learns nothing from trying. */
import { inputRequired } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readAnswer } from '../answers/read-answer.ts';
import { textResult } from '../results.ts';
import { NOW } from '../state/sealed.test-support.ts';
import { callOf } from '../wire/call.ts';
import { ARGUMENTS, as, asking, beginCall, PLAN, REJECTED, sure, YES } from './asking.test-support.ts';
import { eventsOf, type Hosted, hostTools, oldClient, type PostOptions } from './hosted.test-support.ts';
import { MemoryLedger, type StateLedger } from './ledger.ts';
import type { RequestStateOptions } from './policy.ts';

const DEPLOY = { name: 'deploy', arguments: ARGUMENTS };
const TOO_DEEP = JSON.parse(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`);

/** The second request of a deployment: its state, its parameters, its user and its server. */
interface Attempt {
  readonly token: string;
  readonly params: Record<string, unknown>;
  readonly options: PostOptions;
  readonly host: Hosted;
  /** Milliseconds after the first request. */
  readonly later: number;
}

const flipCharacter = (token: string) =>
  token.slice(0, 60) + (token[60] === 'A' ? 'B' : 'A') + token.slice(61);

const ATTEMPTS: [string, string, (attempt: Attempt) => Partial<Attempt>][] = [
  ['tampered with', 'invalid (tampered)', ({ token }) => ({ token: flipCharacter(token) })],
  ['cut short to nothing', 'invalid (malformed)', () => ({ token: '' })],
  ['the author’s plaintext', 'invalid (malformed)', () => ({ token: PLAN })],
  ['larger than the limit', 'invalid (too_large)', ({ token }) => ({ token: token + 'A'.repeat(65_536) })],
  [
    'sealed with another key',
    'invalid (unknown_key)',
    () => ({ host: hostTools(asking(), { keys: ['o'.repeat(32)] }) }),
  ],
  [
    'of another server with the same keys',
    'wrong_request (other_audience)',
    () => ({ host: hostTools(asking(), { now: () => NOW }, 'other-server') }),
  ],
  ['expired', 'expired', () => ({ later: 600_000 })],
  ['from the future', 'invalid (issued_in_the_future)', () => ({ later: -60_001 })],
  ['of another tool', 'wrong_request (other_target)', () => ({ params: { ...DEPLOY, name: 'destroy' } })],
  [
    'of other arguments',
    'wrong_request (other_arguments)',
    () => ({ params: { ...DEPLOY, arguments: { service: 'bank' } } }),
  ],
  [
    'of arguments that are nested too deeply to compare',
    'wrong_request (other_arguments)',
    () => ({ params: { ...DEPLOY, arguments: TOO_DEEP } }),
  ],
  [
    'of arguments that are missing now',
    'wrong_request (other_arguments)',
    () => ({ params: { name: 'deploy' } }),
  ],
  ['of another user', 'wrong_request (other_principal)', () => ({ options: as('mallory') })],
  ['of a user who has logged out', 'wrong_request (other_principal)', () => ({ options: {} })],
];

test.each(ATTEMPTS)('state that is %s is rejected: %s', async (_what, reason, change) => {
  const entries: (string | undefined)[] = [];
  const rejections = eventsOf('mrtr:rejection');
  let now = NOW;
  const host = hostTools(asking(entries), { now: () => now });
  const { result } = await host.post('tools/call', DEPLOY, as('alice'));
  const token = result?.requestState as string;
  const honest = { token, params: DEPLOY, options: as('alice'), host, later: 0 };
  const attempt = { ...honest, ...change(honest) };
  now += attempt.later;

  const echo = { ...attempt.params, inputResponses: YES, requestState: attempt.token };
  expect(await attempt.host.post('tools/call', echo, attempt.options)).toEqual(REJECTED);

  const target = attempt.params.name as string;
  expect(entries).toEqual([undefined]);
  expect(attempt.host.errors).toEqual([`RequestStateRejected: requestState rejected: ${reason}`]);
  const bytes = attempt.token.length;
  const [, name, , detail] = /^(\w+)( \((\w+)\))?$/.exec(reason) ?? [];
  expect(rejections).toHaveLength(1);
  expect(rejections).toMatchObject([
    { reason: name, ...(detail && { detail }), method: 'tools/call', target, bytes },
  ]);
});

test('two calls on one connection at a time keep their states apart', async () => {
  const entries: (string | undefined)[] = [];
  const host = hostTools(asking(entries));
  const states = eventsOf('mrtr:state');
  const client = await oldClient(host, () => YES.sure);
  const names = ['deploy', 'destroy', 'deploy', 'destroy'];
  const results = await Promise.all(names.map((name, n) => client.callTool({ name, arguments: { n } })));
  expect(results).toEqual(Array(4).fill(textResult('Done.')));
  expect(states.filter(({ phase }) => phase === 'opened').map(({ target }) => target)).toEqual(names);
});

test('the state of another call of the same user resumes that call, with its id, round and state', async () => {
  const calls: unknown[] = [];
  const host = hostTools((server) => {
    server.registerTool('deploy', { inputSchema: z.looseObject({}) }, (_, ctx) => {
      const { id, round } = callOf(ctx);
      calls.push([id, round, ctx.mcpReq.requestState()]);
      return inputRequired({ inputRequests: { sure: sure.request }, requestState: `plan ${calls.length}` });
    });
  });
  const [one, other] = [await beginCall(host, as('alice')), await beginCall(host, as('alice'))];
  await host.post('tools/call', { ...one, requestState: other.requestState }, as('alice'));
  const [[first] = [], [second] = []] = calls as [string][];
  expect(second).not.toBe(first);
  expect(calls.at(-1)).toEqual([second, 2, 'plan 2']);
});

/** A tool that repeats the answer it got, and counts its entries. */
function repeating(options: RequestStateOptions) {
  const entries: boolean[] = [];
  const host = hostTools((server) => {
    server.registerTool('deploy', { inputSchema: z.looseObject({}) }, (_, ctx) => {
      const answer = readAnswer(ctx, 'sure', sure);
      if (answer.kind !== 'accepted') return inputRequired({ inputRequests: { sure: sure.request } });
      entries.push(answer.value.sure);
      return textResult(`${answer.value.sure}`);
    });
  }, options);
  return { ...host, entries };
}

test('a recorded result that was moved to another token in the ledger is not served', async () => {
  const results = new Map<string, string>();
  const moved: StateLedger = {
    lease: async ({ id, answers }) => {
      const [other] = [...results].filter(([key]) => key !== id);
      return other ? { kind: 'settled', result: other[1], answers } : { kind: 'first', lease: id };
    },
    settle: async (id, _lease, result) => void results.set(id, result),
    release: async () => {},
  };
  const site = repeating({ ledger: moved });
  await site.post('tools/call', { ...(await beginCall(site)), inputResponses: YES });
  expect(await site.post('tools/call', { ...(await beginCall(site)), inputResponses: YES })).toEqual(
    REJECTED,
  );
  expect(site.entries).toEqual([true]);
});

test('the first of several keys seals, so an instance that has no other opens the state', async () => {
  const [first, second] = ['k'.repeat(32), 'n'.repeat(32)];
  const retry = await beginCall(hostTools(asking(), { keys: [first, second] }));
  const { post } = hostTools(asking(), { keys: [first] });
  expect((await post('tools/call', { ...retry, inputResponses: YES })).result).toMatchObject(
    textResult('Done.'),
  );
});

test('after a key rotation a recorded result is still replayed', async () => {
  const ledger = new MemoryLedger();
  const [oldKey, newKey] = ['k'.repeat(32), 'n'.repeat(32)];
  const before = repeating({ ledger, keys: [oldKey] });
  const retry = { ...(await beginCall(before)), inputResponses: YES };
  const first = await before.post('tools/call', retry);
  const after = repeating({ ledger, keys: [newKey, oldKey] });
  expect(await after.post('tools/call', retry)).toEqual(first);
  expect(after.entries).toEqual([]);
});
