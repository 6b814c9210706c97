import { McpServer, type ServerContext } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Call, callOf, findCall } from './call.ts';
import { hosted, hostedBy, oldClient } from './hosted.test-support.ts';
import { textResult } from './results.ts';
import { inputRequired } from './wire.ts';

/** Registers one of each kind; `calls` collects what the boundary tells each of them. */
const telling =
  (calls: (Call | undefined)[]) =>
  (server: McpServer): void => {
    const hear = (ctx: ServerContext) => void calls.push(findCall(ctx));
    server.registerTool('t', { inputSchema: z.looseObject({}) }, (_, ctx) => {
      hear(ctx);
      return textResult('');
    });
    server.registerPrompt('p', {}, (ctx) => {
      hear(ctx);
      return { messages: [] };
    });
    server.registerResource('r', 'r://r', {}, (_, ctx) => {
      hear(ctx);
      return { contents: [] };
    });
  };

test('a handler of each kind is told its method and its target', async () => {
  const calls: (Call | undefined)[] = [];
  const { post } = hosted(telling(calls), { maxRounds: 7, maxBytes: 4096 });
  await post('tools/call', { name: 't', arguments: { name: 'not the target' } });
  await post('prompts/get', { name: 'p' });
  await post('resources/read', { uri: 'r://r', name: 'not the target' });
  const common = {
    revision: '2026-07-28',
    legacyCapabilities: undefined,
    legacy: 'shim',
    principal: undefined,
    tokenId: undefined,
    round: 1,
    maxRounds: 7,
    maxQuestions: 32,
    maxStateBytes: 4096,
  };
  expect(calls).toEqual([
    { ...common, method: 'tools/call', target: 't' },
    { ...common, method: 'prompts/get', target: 'p' },
    { ...common, method: 'resources/read', target: 'r://r' },
  ]);
});

test('rounds are counted by the state that comes back, on either era', async () => {
  const rounds: unknown[] = [];
  const host = hosted((server) => {
    server.registerTool('ask', {}, (ctx) => {
      const { round } = callOf(ctx);
      rounds.push(round);
      return round < 3 ? inputRequired({ requestState: `after ${round}` }) : textResult('Done.');
    });
  });
  let requestState: unknown;
  for (let n = 0; n < 3; n++) {
    const { result } = await host.post('tools/call', {
      name: 'ask',
      ...(requestState !== undefined && { requestState }),
    });
    requestState = result?.requestState;
  }
  expect(rounds).toEqual([1, 2, 3]);
});

test('the principal is told as a digest that two requests of one user share, and two users do not', async () => {
  const calls: (Call | undefined)[] = [];
  const { post } = hosted(telling(calls));
  for (const sub of ['alice', 'alice', 'bob']) {
    await post(
      'tools/call',
      { name: 't' },
      { authInfo: { token: 't', clientId: 'c', scopes: [], extra: { sub } } },
    );
  }
  const [one, again, other] = calls.map((call) => call?.principal);
  expect(one).toMatch(/^[\w-]{43}$/);
  expect(again).toBe(one);
  expect(other).not.toBe(one);
});

test('a shape that needs the boundary on a server without one says what is missing', async () => {
  const errors: unknown[] = [];
  const { post } = hostedBy(() => {
    const server = new McpServer({ name: 'plain', version: '1' });
    server.registerTool('t', {}, (ctx) => {
      expect(findCall(ctx)).toBeUndefined();
      try {
        callOf(ctx);
      } catch (error) {
        errors.push(error);
      }
      return textResult('');
    });
    return server;
  });
  await post('tools/call', { name: 't' });
  expect(errors).toMatchObject([
    {
      code: 'unprotected_server',
      message:
        'tools/call reached a handler that keeps request state on a server that does not protect it. ' +
        'Call protectRequestState(server, policy) on the new McpServer before anything is registered.',
    },
  ]);
});

test('a client cannot bring a call of its own', async () => {
  const calls: (Call | undefined)[] = [];
  const client = await oldClient(hosted(telling(calls)));
  await client.callTool({
    name: 't',
    arguments: { 'mrtr.call': { round: 9 } },
    _meta: { 'mrtr.call': { round: 9 } },
  });
  expect(calls).toMatchObject([{ method: 'tools/call', target: 't', round: 1, revision: '2025-11-25' }]);
});
