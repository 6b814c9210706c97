import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { InProcess } from '@mrtr/harness';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { ask } from '../answers/ask.ts';
import { readAnswer } from '../answers/read-answer.ts';
import { InvalidOption } from '../errors.ts';
import { elicitation } from '../questions/elicitation.ts';
import { listRoots } from '../questions/model-and-roots.ts';
import { textResult } from '../results.ts';
import { ARGUMENTS, asking, CALLS, PLAN, sure, YES } from './asking.test-support.ts';
import { eventsOf, hostServers, hostTools, oldClient } from './hosted.test-support.ts';
import { requestStatePolicy } from './policy.ts';
import { protectRequestState } from './protected-server.ts';

const KEYS = ['k'.repeat(32)];

test.each(CALLS)('%s asks, gets its answer with its state, and completes', async (method, params) => {
  const entries: (string | undefined)[] = [];
  const states = eventsOf('mrtr:state');
  const { post, errors } = hostTools(asking(entries));
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
  const call = states[0]?.call;
  expect(call).toMatch(/^[\w-]{22}$/);
  expect(states).toEqual([
    { phase: 'sealed', method, target, bytes, call },
    { phase: 'opened', method, target, bytes, call },
  ]);
});

test('a result that asks nothing and keeps nothing costs its client no further request', async () => {
  const states = eventsOf('mrtr:state');
  const { post, errors } = hostTools((server) => {
    server.registerTool('loop', {}, () => ({ resultType: 'input_required' }) as never);
  });
  expect(await post('tools/call', { name: 'loop' })).toEqual({
    error: { code: -32603, message: 'The server asks nothing' },
  });
  expect(errors).toEqual([
    'InvalidDefinition: A result is input_required, but has no question and no state. Return ask({ … }), or a complete result.',
  ]);
  expect(states).toEqual([]);
});

test('the start and the end of each round are published, with its call and its outcome', async () => {
  const [rounds, states] = [eventsOf('mrtr:round'), eventsOf('mrtr:state')];
  const { post } = hostTools((server) => {
    asking()(server);
    server.registerResource('broken', 'config://broken', {}, () => {
      throw new Error('no disk');
    });
  });
  const { result } = await post('tools/call', { name: 'deploy' });
  await post('tools/call', { name: 'deploy', inputResponses: YES, requestState: result?.requestState });
  await post('resources/read', { uri: 'config://broken' });
  const [tool, broken] = [
    { call: states[0]?.call, method: 'tools/call', target: 'deploy' },
    { call: rounds[4]?.call, method: 'resources/read', target: 'config://broken' },
  ];
  expect(rounds).toEqual([
    { ...tool, phase: 'start', round: 1 },
    { ...tool, phase: 'end', round: 1, outcome: 'input_required' },
    { ...tool, phase: 'start', round: 2 },
    { ...tool, phase: 'end', round: 2, outcome: 'complete' },
    { ...broken, phase: 'start', round: 1 },
    { ...broken, phase: 'end', round: 1, outcome: 'error' },
  ]);
  expect(broken.call).not.toBe(tool.call);
});

/** A server that asks in every round, with or without state. */
const insatiable =
  (requestState?: string) =>
  (server: McpServer): void => {
    const ask = () =>
      inputRequired({
        inputRequests: { sure: sure.request },
        ...(requestState !== undefined && { requestState }),
      });
    server.registerTool('ask', {}, ask);
    server.registerResource('ask', 'config://ask', {}, ask);
  };

test.each([undefined, '', 'again'])(
  'a call that asks in every round ends with an error after `limits.rounds` rounds (state: %j)',
  async (state) => {
    const [asks, rounds] = [eventsOf('mrtr:ask'), eventsOf('mrtr:round')];
    const errors: Error[] = [];
    const onerror = (error: Error) => void errors.push(error);
    const { post } = hostTools(insatiable(state), { limits: { rounds: 3 }, onerror });
    let reply = await post('tools/call', { name: 'ask' });
    for (let round = 2; round <= 4; round++) {
      const { requestState, resultType } = reply.result ?? {};
      expect(resultType, `round ${round - 1}`).toBe('input_required');
      reply = await post('tools/call', { name: 'ask', requestState });
    }
    expect(reply.result).toMatchObject({
      content: [
        {
          type: 'text',
          text: "This call still needs input after 3 rounds. It asked 'sure' 3 times. Start it again.",
        },
      ],
      isError: true,
    });
    expect(reply.result).not.toHaveProperty('requestState');
    expect(errors).toMatchObject([{ code: 'rounds_exceeded' }]);
    // The fourth question was not sent, so it is not published.
    const { call } = rounds[0] ?? {};
    expect(asks).toEqual(Array(3).fill({ call, target: 'ask', keys: ['sure'], live: false }));
    expect(rounds.flatMap(({ outcome }) => outcome ?? [])).toEqual([
      ...Array(3).fill('input_required'),
      'error',
    ]);
  },
);

test('a chain of ten questions completes under the default limit of rounds, with the SDK’s client', async () => {
  const host = hostTools((server) => {
    server.registerTool('chain', {}, (ctx) => {
      const asked = Number(ctx.mcpReq.requestState() ?? 0);
      return asked === 10
        ? textResult('Done.')
        : inputRequired({ inputRequests: { sure: sure.request }, requestState: `${asked + 1}` });
    });
  });
  const site = new InProcess(host.server);
  onTestFinished(() => site.close());
  const client = await site.modern({ user: () => YES.sure as { action: 'accept' } });
  expect(await client.callTool({ name: 'chain' })).toMatchObject(textResult('Done.'));
  const old = await oldClient(host, () => YES.sure);
  expect(await old.callTool({ name: 'chain' })).toMatchObject(textResult('Done.'));
});

test('a resource has no room for an error in its result, so its last round ends in a JSON-RPC error', async () => {
  const { post } = hostTools(insatiable(), { limits: { rounds: 1 } });
  const { result } = await post('resources/read', { uri: 'config://ask' });
  expect(await post('resources/read', { uri: 'config://ask', requestState: result?.requestState })).toEqual({
    error: { code: -32600, message: 'This call still needs input after 1 round. Start it again.' },
  });
});

test('state over its limit is an error without details for the client, and with them for `onerror`', async () => {
  const [states, asks, rounds] = [eventsOf('mrtr:state'), eventsOf('mrtr:ask'), eventsOf('mrtr:round')];
  const { post, errors } = hostTools(asking([], 'x'.repeat(1000)), { limits: { stateBytes: 1000 } });
  expect(await post('tools/call', { name: 'deploy' })).toEqual({
    error: { code: -32603, message: 'The server cannot keep the state of this call' },
  });
  expect(errors).toEqual([
    'StateTooLarge: requestState would be 1469 bytes sealed; the policy allows 1000. ' +
      'Keep large values outside of the call and record a reference, or raise limits.stateBytes.',
  ]);
  expect({ states, asks, outcome: rounds.at(-1)?.outcome }).toEqual({
    states: [],
    asks: [],
    outcome: 'error',
  });
});

test('arguments that cannot be hashed are rejected before the handler runs', async () => {
  const entries: (string | undefined)[] = [];
  const rejections = eventsOf('mrtr:rejection');
  const { post } = hostTools(asking(entries));
  expect(
    await post('tools/call', {
      name: 'deploy',
      arguments: JSON.parse(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`),
    }),
  ).toEqual({
    error: {
      code: -32602,
      message: 'The arguments hold a number that is not finite, or are nested deeper than 200 levels',
    },
  });
  expect(rejections).toMatchObject([{ reason: 'invalid', detail: 'invalid_arguments' }]);
  expect(entries).toEqual([]);
});

test('the legacy shim asks an old client and re-enters the handler through the boundary', async () => {
  const entries: (string | undefined)[] = [];
  const states = eventsOf('mrtr:state');
  const client = await oldClient(hostTools(asking(entries)), () => YES.sure);
  expect(await client.callTool({ name: 'deploy', arguments: ARGUMENTS })).toEqual(textResult('Done.'));
  expect(entries).toEqual([undefined, PLAN]);
  expect(states.map(({ phase }) => phase)).toEqual(['sealed', 'opened']);
});

test('an old client without a handler is asked once in a call, and its question gets the fallback in each later round', async () => {
  const asks = eventsOf('mrtr:ask');
  const units = elicitation('Which units?', z.object({ units: z.string() }), {
    fallback: { units: 'metric' },
  });
  const roots = listRoots();
  const errors: unknown[] = [];
  const { server } = hostTools((server) => {
    server.registerTool('tool', {}, async (ctx) => {
      const [answer, rooted] = [readAnswer(ctx, 'units', units), readAnswer(ctx, 'roots', roots)];
      if (answer.kind !== 'accepted') return ask({ units });
      return rooted.kind === 'accepted' ? textResult(answer.value.units) : ask({ roots });
    });
    // The author's own request gets the client's error.
    server.registerTool('own', {}, async ({ mcpReq }) => {
      const requestedSchema = { type: 'object', properties: {} } as const;
      await mcpReq.elicitInput({ message: 'Sure?', requestedSchema }).catch((error) => errors.push(error));
      return textResult('');
    });
  });
  const site = new InProcess(server);
  onTestFinished(() => site.close());
  const capabilities = { elicitation: { form: {} }, roots: {} };
  const client = await site.legacy({ capabilities, roots: [] });
  expect(await client.callTool({ name: 'tool' })).toEqual(textResult('metric'));
  expect(asks.map(({ keys }) => keys)).toEqual([['units'], ['roots']]);
  await client.callTool({ name: 'own' });
  expect(errors).toMatchObject([{ code: -32601 }]);
});

const INFO = { name: 'test-server', version: '1.0.0' };

test('a server that already serves a method is rejected, because that handler would not be protected', () => {
  const server = new McpServer(INFO);
  server.registerResource('r', 'r://r', {}, () => ({ contents: [] }));
  const policy = requestStatePolicy({ keys: KEYS, singleUse: false, audience: 'a' });
  expect(() => protectRequestState(server, policy)).toThrow(
    new InvalidOption(
      'resources/read already has a handler. Call protectRequestState on the new McpServer, before you register ' +
        'anything, and leave its capabilities to be inferred: declaring them installs handlers at once.',
    ),
  );
});

test('a policy without an audience is rejected, and the server is unchanged', async () => {
  const before = new McpServer(INFO);
  const { setRequestHandler } = before.server;
  expect(() => protectRequestState(before, requestStatePolicy({ keys: KEYS, singleUse: false }))).toThrow(
    new InvalidOption(
      'The policy names no audience, and a built McpServer does not tell its name. Set `audience`, or let ' +
        'protectedServer(info, policy) build the server.',
    ),
  );
  expect(before.server.setRequestHandler).toBe(setRequestHandler);
});

test('a server that is built by hand opens the state of one that protectedServer built', async () => {
  const policy = requestStatePolicy({ keys: KEYS, singleUse: false, audience: 'test-server' });
  const byHand = hostServers(() => {
    const server = new McpServer(INFO);
    protectRequestState(server, policy);
    asking()(server);
    return server;
  });
  const { result } = await byHand.post('tools/call', { name: 'deploy' });
  const echo = { name: 'deploy', inputResponses: YES, requestState: result?.requestState };
  expect((await hostTools(asking()).post('tools/call', echo)).result).toMatchObject(textResult('Done.'));
});

test('a low-level handler with schemas of its own is rejected, because it does not get the request', () => {
  const { server } = hostTools(() => {});
  const low = server().server;
  low.registerCapabilities({ tools: {} });
  const schemas = { params: z.looseObject({ name: z.string() }) };
  expect(() => low.setRequestHandler('tools/call', schemas, () => textResult(''))).toThrow(
    new InvalidOption(
      "tools/call cannot be protected with schemas of its own. Register it as setRequestHandler('tools/call', handler).",
    ),
  );
  // A method without state is not affected.
  low.setRequestHandler('shop/restock', schemas, () => ({}));
});
