import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { inputRequired } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { REJECTED } from '../admission/asking.test-support.ts';
import { hostTools } from '../admission/hosted.test-support.ts';
import { elicitation } from '../questions/elicitation.ts';
import { textResult } from '../wire/results.ts';
import { readState } from './read-state.ts';

const sure = elicitation('Really deploy?', z.object({ sure: z.boolean() }));
const Plan = z.object({ replicas: z.number().int() });

/** Registers a tool, a prompt and a resource, which all do the same. */
function registerEach(server: McpServer, handle: (ctx: ServerContext) => unknown): void {
  const handler = handle as (ctx: ServerContext) => never;
  server.registerTool('deploy', { inputSchema: z.object({}) }, (_, ctx) => handler(ctx));
  server.registerPrompt('report', {}, handler);
  server.registerResource('config', 'config://shop', {}, (_, ctx) => handler(ctx));
}

/** They keep `state`, which is text or becomes JSON. */
const keeping = (state: unknown) => (server: McpServer) => {
  const requestState = typeof state === 'string' ? state : JSON.stringify(state);
  registerEach(server, () => inputRequired({ inputRequests: { sure: sure.request }, requestState }));
};

/** The same, in a version that reads it: `effect` is called below. */
const reading =
  (schema: z.ZodType, effect: (state: unknown) => void, swallow = false) =>
  (server: McpServer) =>
    registerEach(server, (ctx) => {
      try {
        effect(readState(ctx, schema));
      } catch (error) {
        if (!swallow) throw error;
      }
      return { ...textResult('Done.'), messages: [], contents: [] };
    });

const CALLS = [
  ['tools/call', { name: 'deploy', arguments: {} }],
  ['prompts/get', { name: 'report' }],
  ['resources/read', { uri: 'config://shop' }],
] as const;

/** What an author who reads with `schema` sees of `state`, and what comes of it. */
async function read(
  state: unknown,
  schema: z.ZodType = Plan,
  [method, params]: readonly [string, Record<string, unknown>] = CALLS[0],
  swallow = false,
) {
  const { result } = await hostTools(keeping(state)).post(method, { ...params });
  const seen: unknown[] = [];
  const { post, errors } = hostTools(reading(schema, (value) => seen.push(value), swallow));
  const reply = await post(method, { ...params, requestState: result?.requestState });
  return { reply, seen, errors };
}

test('state that fits is the output of its schema', async () => {
  expect((await read({ replicas: 3 })).seen).toEqual([{ replicas: 3 }]);
});

test('a default in the schema brings older state up to date', async () => {
  const Newer = Plan.extend({ region: z.string().default('eu') });
  expect((await read({ replicas: 3 }, Newer)).seen).toEqual([{ replicas: 3, region: 'eu' }]);
});

test('in the first round, and after one that kept nothing, there is no state', async () => {
  const seen: unknown[] = [];
  const { post } = hostTools(reading(Plan, (value) => seen.push(value)));
  await post('tools/call', { name: 'deploy', arguments: {} });
  expect(seen).toEqual([undefined]);
  expect((await read(undefined)).seen).toEqual([undefined]);
});

test.each(CALLS)('state that does not fit ends %s with the frozen error', async (...called) => {
  for (const swallow of [false, true]) {
    const { reply, seen, errors } = await read({ replicas: 'three' }, Plan, called, swallow);
    expect(reply).toEqual(REJECTED);
    expect(seen).toEqual([]);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/rejected: other_schema: the state does not fit its schema at 'replicas'$/);
  }
});

test('the reason names the field, and not its value, which a schema may quote', async () => {
  const quoting = z.object({
    card: z.string().refine(() => false, { error: ({ input }) => `${input} is no card` }),
  });
  const { errors } = await read({ card: '4111 1111' }, quoting);
  expect(errors.join()).toMatch(/at 'card'$/);
});

test('state that is not JSON is refused as well', async () => {
  const { reply, errors } = await read('{"replicas":');
  expect(reply).toEqual(REJECTED);
  expect(errors[0]).toMatch(/rejected: other_schema: the state is not JSON$/);
});

test('a schema that validates asynchronously is the author’s mistake, and the error says so', async () => {
  const { reply } = await read(
    { replicas: 3 },
    Plan.refine(async () => true),
  );
  expect(JSON.stringify(reply)).toMatch(/The schema of the state validates asynchronously/);
});

test('on a server without protection nothing is read: the client could have written it', () => {
  const ctx = { mcpReq: { method: 'tools/call', requestState: () => '{}' } } as unknown as ServerContext;
  expect(() => readState(ctx, Plan)).toThrow(/does not protect it/);
});
