/** Attacks with state: changed, stolen, replayed. The client learns nothing from trying. */
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readAnswer } from '../answers/read-answer.ts';
import { bytesOf, NOW, tokenOf } from '../state/sealed.test-support.ts';
import { callOf } from '../wire/call.ts';
import { textResult } from '../wire/results.ts';
import { ARGUMENTS, as, asking, beginCall, CALLS, PLAN, REJECTED, sure, YES } from './asking.test-support.ts';
import { protectRequestState } from './boundary.ts';
import {
  eventsOf,
  type Hosted,
  hostServers,
  hostTools,
  oldClient,
  type PostOptions,
} from './hosted.test-support.ts';
import { MemoryLedger, type StateLedger } from './ledger.ts';
import { type RequestStateOptions, requestStatePolicy } from './policy.ts';

const DEPLOY = { name: 'deploy', arguments: ARGUMENTS };

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
  ['tampered with', 'tampered', ({ token }) => ({ token: flipCharacter(token) })],
  ['cut short by a byte', 'tampered', ({ token }) => ({ token: tokenOf(bytesOf(token).subarray(0, -1)) })],
  ['cut short to nothing', 'malformed', () => ({ token: '' })],
  ['made up', 'malformed', () => ({ token: 'v1.{"plan":"mine"}' })],
  ['of another version', 'malformed', ({ token }) => ({ token: `v2.${token.slice(3)}` })],
  ['in another spelling', 'malformed', ({ token }) => ({ token: `${token}=` })],
  ['the author’s plaintext', 'malformed', () => ({ token: PLAN })],
  ['larger than the limit', 'too_large', ({ token }) => ({ token: token + 'A'.repeat(65_536) })],
  [
    'sealed with another key',
    'unknown_key',
    () => ({ host: hostTools(asking(), { keys: ['o'.repeat(32)] }) }),
  ],
  ['expired', 'expired', () => ({ later: 600_000 })],
  ['from the future', 'issued_in_the_future', () => ({ later: -60_001 })],
  ['of another tool', 'other_target', () => ({ params: { ...DEPLOY, name: 'destroy' } })],
  [
    'of other arguments',
    'other_arguments',
    () => ({ params: { ...DEPLOY, arguments: { service: 'bank' } } }),
  ],
  ['of arguments that are missing now', 'other_arguments', () => ({ params: { name: 'deploy' } })],
  ['of another user', 'other_principal', () => ({ options: as('mallory') })],
  ['of a user who has logged out', 'other_principal', () => ({ options: {} })],
];

test.each(ATTEMPTS)('state that is %s is rejected: %s', async (_what, reason, change) => {
  const entries: (string | undefined)[] = [];
  const states = eventsOf('mrtr:state');
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
  expect(attempt.host.errors).toEqual([
    `RequestStateRejected: requestState of tools/call ${target} rejected: ${reason}`,
  ]);
  expect(states.slice(1)).toEqual([
    { phase: 'rejected', method: 'tools/call', target, bytes: attempt.token.length, reason },
  ]);
});

test('the honest retry is accepted to the last millisecond', async () => {
  let now = NOW;
  const { post } = hostTools(asking(), { now: () => now });
  const { result } = await post('tools/call', DEPLOY, as('alice'));
  now += 599_999;
  const echo = { ...DEPLOY, inputResponses: YES, requestState: result?.requestState };
  expect((await post('tools/call', echo, as('alice'))).result).toMatchObject(textResult('Done.'));
});

test('state of another server with the same keys is rejected', async () => {
  const { result } = await hostTools(asking()).post('tools/call', DEPLOY);
  const other = hostTools(asking(), {}, 'other-server');
  const echo = { ...DEPLOY, inputResponses: YES, requestState: result?.requestState };
  expect(await other.post('tools/call', echo)).toEqual(REJECTED);
  expect(other.errors).toEqual([
    'RequestStateRejected: requestState of tools/call deploy rejected: other_audience',
  ]);
});

test('two servers with the same audience serve each other’s calls', async () => {
  const shared = { audience: 'the-fleet' };
  const { result } = await hostTools(asking(), shared, 'blue').post('tools/call', DEPLOY);
  const echo = { ...DEPLOY, inputResponses: YES, requestState: result?.requestState };
  const { result: done } = await hostTools(asking(), shared, 'green').post('tools/call', echo);
  expect(done).toMatchObject(textResult('Done.'));
});

test.each([[42], [null], [true], [{ toString: 'v1.' }], [['v1.']]])(
  'state that is not text (%j) is rejected in the same way',
  async (requestState) => {
    const entries: (string | undefined)[] = [];
    const { post } = hostTools(asking(entries));
    expect(await post('tools/call', { ...DEPLOY, inputResponses: YES, requestState })).toEqual(REJECTED);
    expect(entries).toEqual([]);
  },
);

test('state of one method is rejected by the others', async () => {
  const { post } = hostTools(asking());
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
  const { post, errors } = hostTools(asking(entries));
  const { result } = await post('tools/call', DEPLOY);
  const arguments_ = JSON.parse(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`);
  const echo = { ...DEPLOY, arguments: arguments_, inputResponses: YES, requestState: result?.requestState };
  expect(await post('tools/call', echo)).toEqual(REJECTED);
  expect(entries).toEqual([undefined]);
  expect(errors).toEqual([
    'RequestStateRejected: requestState of tools/call deploy rejected: other_arguments',
  ]);
});

test('an old client that makes up state gets the same error, and its handler does not run', async () => {
  const entries: (string | undefined)[] = [];
  const host = hostTools(asking(entries));
  const client = await oldClient(host, () => YES.sure);
  const forged = { ...DEPLOY, inputResponses: YES, requestState: PLAN };
  await expect(client.callTool(forged)).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining('Invalid or expired requestState'),
    data: { reason: 'invalid_request_state' },
  });
  expect(entries).toEqual([]);
});

test('an answer in the prototype of the answers does not count', async () => {
  const { post } = hostTools(asking());
  const { result } = await post('tools/call', DEPLOY);
  const inputResponses = JSON.parse(`{"__proto__":${JSON.stringify(YES)}}`);
  const { result: again } = await post('tools/call', {
    ...DEPLOY,
    inputResponses,
    requestState: result?.requestState,
  });
  expect(again?.resultType).toBe('input_required');
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

test('no result leaves the boundary unsealed, also where the SDK then refuses it', async () => {
  const handed: { requestState?: string }[] = [];
  const policy = requestStatePolicy({ keys: ['k'.repeat(32)], singleUse: false, audience: 'a' });
  const { send } = hostServers(() => {
    const server = new McpServer({ name: 'a', version: '1' });
    const low = server.server;
    const set = low.setRequestHandler.bind(low) as (
      method: string,
      handler: (...args: unknown[]) => unknown,
    ) => void;
    low.setRequestHandler = ((method: string, handler: (...args: unknown[]) => unknown) => {
      set(method, async (...args) => {
        const result = await handler(...args);
        if (method === 'tools/call') handed.push(result as object);
        return result;
      });
    }) as typeof low.setRequestHandler;
    protectRequestState(server, policy);
    asking()(server);
    return server;
  });
  expect((await send('tools/call', DEPLOY, { capabilities: {} })).status).toBe(400);
  expect(handed.map(({ requestState }) => requestState)).toEqual([expect.stringMatching(/^v1\./)]);
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

const no = { sure: { action: 'accept', content: { sure: false } } };

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

test.each<[RequestStateOptions['singleUse'], unknown[], unknown[], boolean[]]>([
  [false, [YES, YES, no], ['true', 'true', 'false'], [true, true, false]],
  ['reject', [YES, YES, no], ['true', undefined, undefined], [true]],
  ['replay', [YES, YES], ['true', 'true'], [true]],
])(
  'state that is presented again under singleUse %j is served, rejected or replayed',
  async (singleUse, presented, texts, entries) => {
    const site = repeating({ singleUse, ledger: new MemoryLedger() });
    const retry = await beginCall(site);
    const replies = [];
    for (const inputResponses of presented) {
      const reply = await site.post('tools/call', { ...retry, inputResponses });
      if (!reply.result) expect(reply).toEqual(REJECTED);
      replies.push((reply.result?.content as { text: string }[] | undefined)?.[0]?.text);
    }
    expect(replies).toEqual(texts);
    expect(site.entries).toEqual(entries);
  },
);

test('a second presentation with other answers gets the frozen refusal', async () => {
  const site = repeating({ singleUse: 'replay', ledger: new MemoryLedger() });
  const retry = await beginCall(site);
  await site.post('tools/call', { ...retry, inputResponses: YES });
  expect(await site.post('tools/call', { ...retry, inputResponses: no })).toEqual(REJECTED);
});

test('a replayed error is the error that went out', async () => {
  const { post } = hostTools(
    (server) => {
      server.registerResource('r', 'r://r', {}, (_, ctx) => {
        if (ctx.mcpReq.requestState() === undefined) return inputRequired({ requestState: PLAN });
        throw Object.assign(new Error('the printer is on fire'), { code: -32055 });
      });
    },
    { singleUse: 'replay' },
  );
  const { result } = await post('resources/read', { uri: 'r://r' });
  const retry = { uri: 'r://r', requestState: result?.requestState };
  const first = await post('resources/read', retry);
  expect(await post('resources/read', retry)).toEqual(first);
});

test('a recorded result that was moved to another token in the ledger is not served', async () => {
  const results = new Map<string, string>();
  const moved: StateLedger = {
    claim: async ({ id, answers }) => {
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
