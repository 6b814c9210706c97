import { AsyncLocalStorage } from 'node:async_hooks';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { GetPromptResultSchema, ReadResourceResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { McpServer } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { bindRounds, observe } from '../diagnostics.ts';
import { InvalidPolicy } from '../errors.ts';
import { eventsOf, hosted, hostedBy, oldClient, URL_IN_PROCESS } from '../hosted.test-support.ts';
import { textResult } from '../results.ts';
import { inputRequired } from '../wire.ts';
import { ARGUMENTS, as, asking, CALLS, PLAN, sure, YES } from './asking.test-support.ts';
import { protectRequestState } from './boundary.ts';
import { requestStatePolicy } from './policy.ts';

const KEYS = ['k'.repeat(32)];

test('the handler reads its plaintext, the wire carries a sealed token, and the client never notices', async () => {
  const entries: (string | undefined)[] = [];
  const host = hosted(asking(entries));
  const wire: string[] = [];
  const client = new Client(
    { name: 'c', version: '1' },
    { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: {} } },
  );
  client.setRequestHandler('elicitation/create', () => YES.sure as { action: 'accept' });
  const transport = new StreamableHTTPClientTransport(new URL(URL_IN_PROCESS), {
    fetch: async (url, init) => {
      wire.push(String(init?.body));
      const response = await host.fetch(url, init);
      wire.push(await response.clone().text());
      return response;
    },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  wire.length = 0;

  expect(await client.callTool({ name: 'deploy', arguments: ARGUMENTS })).toMatchObject(textResult('Done.'));

  expect(entries).toEqual([undefined, PLAN]);
  expect(wire).toHaveLength(4);
  const sent = JSON.parse(wire[1] ?? '').result.requestState;
  expect(sent).toMatch(/^v1\.[\w-]+$/);
  expect(JSON.parse(wire[2] ?? '').params.requestState).toBe(sent);
  const everything = wire.join('\n') + Buffer.from(sent.slice(3), 'base64url').toString('latin1');
  expect(everything).not.toContain(PLAN);
  expect(everything).not.toContain(Buffer.from(PLAN).toString('base64url').slice(2, -2));
});

test.each(CALLS)('%s is asked, answered with its state, and done', async (method, params) => {
  const entries: (string | undefined)[] = [];
  const states = eventsOf('mrtr:state');
  const { post, errors } = hosted(asking(entries));
  const first = await post(method, params);
  expect(first).toEqual({
    result: {
      resultType: 'input_required',
      inputRequests: { sure: sure.request },
      requestState: expect.stringMatching(/^v1\./),
      _meta: expect.anything(),
    },
  });
  const requestState = first.result?.requestState as string;
  const second = await post(method, { ...params, inputResponses: YES, requestState });
  expect(second.result?.resultType).toBe('complete');
  expect(entries).toEqual([undefined, PLAN]);
  expect(errors).toEqual([]);
  const target = 'name' in params ? params.name : params.uri;
  const bytes = requestState.length;
  const id = states[0]?.id;
  expect(id).toMatch(/^[\w-]{16}$/);
  expect(states).toEqual([
    { phase: 'sealed', method, target, bytes, id },
    { phase: 'opened', method, target, bytes, id },
  ]);
});

test('a new instance with the same key goes on where another one stopped', async () => {
  const [one, other] = [hosted(asking()), hosted(asking())];
  const params = { name: 'deploy', arguments: ARGUMENTS };
  const { result } = await one.post('tools/call', params);
  const echo = { ...params, inputResponses: YES, requestState: result?.requestState };
  expect((await other.post('tools/call', echo)).result).toMatchObject(textResult('Done.'));
});

test('the arguments may come back in another order and another notation', async () => {
  const { post } = hosted(asking());
  const { result } = await post('tools/call', { name: 'deploy', arguments: { a: { b: 1, c: [0] }, d: 'é' } });
  const arguments_ = JSON.parse('{"d":"\\u00e9","a":{"c":[-0.0],"b":1e0}}');
  const echo = {
    name: 'deploy',
    arguments: arguments_,
    inputResponses: YES,
    requestState: result?.requestState,
  };
  expect((await post('tools/call', echo)).result).toMatchObject(textResult('Done.'));
});

test('a round without state is left as it is', async () => {
  const states = eventsOf('mrtr:state');
  const { post } = hosted((server) => {
    server.registerTool('ask', {}, () => inputRequired({ inputRequests: { sure: sure.request } }));
  });
  const { result } = await post('tools/call', { name: 'ask' });
  expect(result).not.toHaveProperty('requestState');
  expect(result).toMatchObject({ resultType: 'input_required', inputRequests: { sure: sure.request } });
  expect(states).toEqual([]);
});

test.each([['\0'], ['\0\0'], ['\0plan']])(
  'state that begins with a zero byte (%j) is state',
  async (plan) => {
    const entries: (string | undefined)[] = [];
    const { post } = hosted(asking(entries, plan), { singleUse: 'replay' });
    const { result } = await post('tools/call', { name: 'deploy' });
    await post('tools/call', { name: 'deploy', inputResponses: YES, requestState: result?.requestState });
    expect(entries).toEqual([undefined, plan]);
  },
);

test('empty state is state', async () => {
  const entries: (string | undefined)[] = [];
  const { post } = hosted(asking(entries, ''));
  const { result } = await post('tools/call', { name: 'deploy' });
  await post('tools/call', { name: 'deploy', inputResponses: YES, requestState: result?.requestState });
  expect(entries).toEqual([undefined, '']);
});

test('a finished result is passed through untouched', async () => {
  const done = { ...textResult('Done.'), requestState: 'not ours to touch', structuredContent: { n: 1 } };
  const { post } = hosted((server) => void server.registerTool('finish', {}, () => done));
  expect((await post('tools/call', { name: 'finish' })).result).toMatchObject(done);
});

test('every round is announced at both ends, with how it ended', async () => {
  const [rounds, states] = [eventsOf('mrtr:round'), eventsOf('mrtr:state')];
  const { post } = hosted((server) => {
    asking()(server);
    server.registerResource('broken', 'config://broken', {}, () => {
      throw new Error('no disk');
    });
  });
  const { result } = await post('tools/call', { name: 'deploy' });
  await post('tools/call', { name: 'deploy', inputResponses: YES, requestState: result?.requestState });
  await post('resources/read', { uri: 'config://broken' });
  const [tool, broken] = [
    { method: 'tools/call', target: 'deploy' },
    { method: 'resources/read', target: 'config://broken' },
  ];
  expect(rounds).toEqual([
    { ...tool, phase: 'start', round: 1 },
    { ...tool, phase: 'end', round: 1, outcome: 'input_required' },
    { ...tool, phase: 'start', round: 2, continues: states[0]?.id },
    { ...tool, phase: 'end', round: 2, outcome: 'complete' },
    { ...broken, phase: 'start', round: 1 },
    { ...broken, phase: 'end', round: 1, outcome: 'error' },
  ]);
});

test('whatever is published in a round finds what a listener made of its start', async () => {
  const [store, seen] = [new AsyncLocalStorage<string>(), [] as unknown[]];
  onTestFinished(bindRounds(store, ({ round, traceparent }) => `round ${round} of ${traceparent}`));
  for (const name of ['mrtr:ask', 'mrtr:state', 'mrtr:round'] as const)
    onTestFinished(
      observe(name, ({ ...event }) => seen.push([name, 'phase' in event && event.phase, store.getStore()])),
    );
  const { post } = hosted(asking());
  await post('tools/call', { name: 'deploy', _meta: { traceparent: 'x' } });
  const round = 'round 1 of x';
  expect(seen).toEqual([
    ['mrtr:round', 'start', round],
    ['mrtr:state', 'sealed', round],
    ['mrtr:ask', false, round],
    ['mrtr:round', 'end', round],
  ]);
  expect(store.getStore()).toBeUndefined();
});

/** A server whose every round is answered with one more question. */
const insatiable = (server: McpServer): void => {
  const ask = () => inputRequired({ inputRequests: { sure: sure.request }, requestState: 'again' });
  server.registerTool('ask', {}, ask);
  server.registerResource('ask', 'config://ask', {}, ask);
};

test('a call that asks for ever ends with an error after its cap of rounds', async () => {
  const [asks, rounds] = [eventsOf('mrtr:ask'), eventsOf('mrtr:round')];
  const { post } = hosted(insatiable, { maxRounds: 3 });
  let reply = await post('tools/call', { name: 'ask' });
  for (let round = 2; round <= 3; round++) {
    const { requestState, resultType } = reply.result ?? {};
    expect(resultType).toBe('input_required');
    reply = await post('tools/call', { name: 'ask', requestState });
  }
  expect(reply.result).toMatchObject({
    content: [{ type: 'text', text: 'This call still needs input after 3 rounds. Start it again.' }],
    isError: true,
  });
  expect(reply.result).not.toHaveProperty('requestState');
  // The third question never went out, and observers are not told that it did.
  expect(asks).toEqual(Array(2).fill({ target: 'ask', keys: ['sure'], live: false }));
  expect(rounds.flatMap(({ outcome }) => outcome ?? [])).toEqual([
    'input_required',
    'input_required',
    'complete',
  ]);
});

test('a resource has no room for an error in its result, so its cap ends in a JSON-RPC error', async () => {
  const { post } = hosted(insatiable, { maxRounds: 1 });
  expect(await post('resources/read', { uri: 'config://ask' })).toEqual({
    error: { code: -32600, message: 'This call still needs input after 1 rounds. Start it again.' },
  });
});

test('state that is too large to travel is an error that tells the client nothing, and the operator what to do', async () => {
  const [states, asks, rounds] = [eventsOf('mrtr:state'), eventsOf('mrtr:ask'), eventsOf('mrtr:round')];
  const { post, errors } = hosted(asking([], 'x'.repeat(1000)), { maxBytes: 1000 });
  expect(await post('tools/call', { name: 'deploy' })).toEqual({
    error: { code: -32603, message: 'The server cannot keep the state of this call' },
  });
  expect(errors).toEqual([
    'StateTooLarge: requestState would be 1411 bytes sealed; the policy allows 1000. ' +
      'Keep large values outside of the call and record a reference, or raise maxBytes.',
  ]);
  expect({ states, asks, outcome: rounds.at(-1)?.outcome }).toEqual({
    states: [],
    asks: [],
    outcome: 'error',
  });
});

test('state of exactly the ceiling travels, in both directions', async () => {
  const { post } = hosted(asking([], 'x'.repeat(692)), { maxBytes: 1001 });
  const { result } = await post('tools/call', { name: 'deploy' });
  expect(result?.requestState).toHaveLength(1001);
  const echo = { name: 'deploy', inputResponses: YES, requestState: result?.requestState };
  expect((await post('tools/call', echo)).result).toMatchObject(textResult('Done.'));
});

test.each([{ plan: 1 }, 42, null, ['a'], 'half a pair: \ud800'])(
  'state that is no text (%j) never leaves the server',
  async (state) => {
    const { post } = hosted((server) => {
      const result = {
        resultType: 'input_required',
        inputRequests: { sure: sure.request },
        requestState: state,
      };
      server.registerTool('ask', {}, () => result as unknown as ReturnType<typeof inputRequired>);
    });
    expect(await post('tools/call', { name: 'ask' })).toEqual({
      error: { code: -32603, message: 'The server cannot keep the state of this call' },
    });
  },
);

test('state on a request that cannot have any is ignored', async () => {
  const states = eventsOf('mrtr:state');
  const { post, errors } = hosted(asking());
  const { result } = await post('tools/list', { requestState: 'v1.anything', inputResponses: YES });
  expect(result?.tools).toMatchObject([{ name: 'deploy' }, { name: 'destroy' }]);
  expect({ states, errors }).toEqual({ states: [], errors: [] });
});

const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);

test('arguments that cannot be bound to state are refused before the handler is entered', async () => {
  const entries: (string | undefined)[] = [];
  const { post } = hosted(asking(entries));
  expect(await post('tools/call', { name: 'deploy', arguments: nested(300) })).toEqual({
    error: {
      code: -32602,
      message: 'The arguments hold a number that is not finite, or are nested deeper than 200 levels',
    },
  });
  expect(entries).toEqual([]);
});

test('an authenticated user goes on with what the same user began, with a fresh token of the same subject', async () => {
  const { post } = hosted(asking());
  const { result } = await post('tools/call', { name: 'deploy' }, as('alice'));
  const echo = { name: 'deploy', inputResponses: YES, requestState: result?.requestState };
  const { authInfo } = as('alice');
  const refreshed = { authInfo: { ...authInfo, token: 'refreshed' } as NonNullable<typeof authInfo> };
  expect((await post('tools/call', echo, refreshed)).result).toMatchObject(textResult('Done.'));
});

test('the legacy shim asks an old client and re-enters the handler through the boundary', async () => {
  const entries: (string | undefined)[] = [];
  const states = eventsOf('mrtr:state');
  const host = hosted(asking(entries));
  const client = await oldClient(host, () => YES.sure);
  expect(await client.callTool({ name: 'deploy', arguments: ARGUMENTS })).toEqual(textResult('Done.'));
  expect(
    await client.request(
      { method: 'prompts/get', params: { name: 'report', arguments: { of: 'shop' } } },
      GetPromptResultSchema,
    ),
  ).toEqual({
    messages: [{ role: 'user', content: { type: 'text', text: 'Report.' } }],
  });
  expect(
    await client.request(
      { method: 'resources/read', params: { uri: 'config://shop' } },
      ReadResourceResultSchema,
    ),
  ).toEqual({
    contents: [{ uri: 'config://shop', text: 'replicas: 3' }],
  });
  expect(entries).toEqual([undefined, PLAN, undefined, PLAN, undefined, PLAN]);
  expect(states.map(({ phase }) => phase)).toEqual(Array(3).fill(['sealed', 'opened']).flat());
});

test('the cap of rounds holds under the legacy shim, too', async () => {
  const client = await oldClient(hosted(insatiable, { maxRounds: 3 }), () => YES.sure);
  expect(await client.callTool({ name: 'ask' })).toEqual({
    content: [{ type: 'text', text: 'This call still needs input after 3 rounds. Start it again.' }],
    isError: true,
  });
});

const INFO = { name: 'test-server', version: '1.0.0' };
const refusal = (method: string) =>
  new InvalidPolicy(
    `${method} already has a handler. Call protectRequestState on the new McpServer, before anything is ` +
      'registered, and leave its capabilities to be inferred: declaring them installs handlers at once.',
  );

test.each([
  ['tools/call', (server: McpServer) => void server.registerTool('t', {}, () => textResult(''))],
  ['prompts/get', (server: McpServer) => void server.registerPrompt('p', {}, () => ({ messages: [] }))],
  [
    'resources/read',
    (server: McpServer) => void server.registerResource('r', 'r://r', {}, () => ({ contents: [] })),
  ],
])(
  'a server that already serves %s is refused, for that handler would not be protected',
  (method, register) => {
    const server = new McpServer(INFO);
    register(server);
    const policy = requestStatePolicy({ keys: KEYS, audience: 'a' });
    expect(() => protectRequestState(server, policy)).toThrow(refusal(method));
  },
);

test('a server that declared its capabilities is refused, for declaring them installed handlers', () => {
  const server = new McpServer(INFO, { capabilities: { tools: {} } });
  const policy = requestStatePolicy({ keys: KEYS, audience: 'a' });
  expect(() => protectRequestState(server, policy)).toThrow(refusal('tools/call'));
});

test('a policy without an audience is refused, and leaves the server as it was', async () => {
  const before = new McpServer(INFO);
  const { setRequestHandler } = before.server;
  expect(() => protectRequestState(before, requestStatePolicy({ keys: KEYS }))).toThrow(
    new InvalidPolicy(
      'The policy names no audience, and a built McpServer does not tell its name. Set `audience`, or let ' +
        'protectedServer(info, policy) build the server.',
    ),
  );
  expect(before.server.setRequestHandler).toBe(setRequestHandler);
});

test('a server built by hand is protected like one built for the purpose', async () => {
  const policy = requestStatePolicy({ keys: KEYS, audience: 'test-server' });
  const byHand = hostedBy(() => {
    const server = new McpServer(INFO);
    protectRequestState(server, policy);
    asking()(server);
    return server;
  });
  const { result } = await byHand.post('tools/call', { name: 'deploy' });
  const echo = { name: 'deploy', inputResponses: YES, requestState: result?.requestState };
  expect((await hosted(asking()).post('tools/call', echo)).result).toMatchObject(textResult('Done.'));
});

test('a handler of the low-level server is protected as well', async () => {
  const entries: unknown[] = [];
  const { post } = hosted((server) => {
    server.server.registerCapabilities({ tools: {} });
    server.server.setRequestHandler('tools/call', (request, ctx) => {
      entries.push([request.params, ctx.mcpReq.requestState()]);
      return inputRequired({ inputRequests: { sure: sure.request }, requestState: PLAN });
    });
  });
  const { result } = await post('tools/call', { name: 'deploy', arguments: ARGUMENTS });
  await post('tools/call', { name: 'deploy', arguments: ARGUMENTS, requestState: result?.requestState });
  const params = { name: 'deploy', arguments: ARGUMENTS };
  expect(entries).toEqual([
    [params, undefined],
    [params, PLAN],
  ]);
});

test('a low-level handler with schemas of its own is refused, for it is not given what state is bound to', () => {
  const { server } = hosted(() => {});
  const low = server().server;
  low.registerCapabilities({ tools: {} });
  const schemas = { params: z.looseObject({ name: z.string() }) };
  expect(() => low.setRequestHandler('tools/call', schemas, () => textResult(''))).toThrow(
    new InvalidPolicy(
      "tools/call cannot be protected with schemas of its own. Register it as setRequestHandler('tools/call', handler).",
    ),
  );
  // A method that carries no state is none of the boundary's business.
  low.setRequestHandler('shop/restock', schemas, () => ({}));
});
