import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { inputRequired } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { REJECTED } from '../admission/asking.test-support.ts';
import { hostTools } from '../admission/hosted.test-support.ts';
import { elicitation } from '../questions/elicitation.ts';
import { textResult } from '../results.ts';
import { readState } from './read-state.ts';

const sure = elicitation('Really deploy?', z.object({ sure: z.boolean() }));
const Plan = z.object({ replicas: z.number().int() });

/** Registers a tool and a prompt, which do the same. */
const registerBoth = (handler: (ctx: ServerContext) => unknown) => (server: McpServer) => {
  server.registerTool('deploy', {}, handler as (ctx: ServerContext) => never);
  server.registerPrompt('deploy', {}, handler as (ctx: ServerContext) => never);
};

const passOn = (error: unknown): void => {
  throw error;
};

/** Reads `state` with `schema`, and returns the value and the outcome of the call. */
async function read(state: unknown, schema: z.ZodType = Plan, onError = passOn, method = 'tools/call') {
  const requestState = typeof state === 'string' ? state : JSON.stringify(state);
  const kept = requestState && { requestState };
  const asking = hostTools(
    registerBoth(() => inputRequired({ inputRequests: { sure: sure.request }, ...kept })),
  );
  const { result } = await asking.post(method, { name: 'deploy' });
  const seen: unknown[] = [];
  const { post, errors } = hostTools(
    registerBoth((ctx) => {
      try {
        seen.push(readState(ctx, schema));
      } catch (error) {
        onError(error);
      }
      return textResult('Done.');
    }),
  );
  const reply = await post(method, { name: 'deploy', requestState: result?.requestState });
  return { reply, seen, errors, post };
}

test('state that fits is the output of its schema', async () => {
  expect((await read({ replicas: 3 })).seen).toEqual([{ replicas: 3 }]);
});

test('a default in the schema brings older state up to date', async () => {
  const Newer = Plan.extend({ region: z.string().default('eu') });
  expect((await read({ replicas: 3 }, Newer)).seen).toEqual([{ replicas: 3, region: 'eu' }]);
});

test('in the first round, and after one that kept nothing, there is no state', async () => {
  const { seen, post } = await read(undefined);
  await post('tools/call', { name: 'deploy' });
  expect(seen).toEqual([undefined, undefined]);
});

test.each<[string, string, typeof passOn]>([
  ['is passed on by a tool', 'tools/call', passOn],
  ['is caught', 'tools/call', () => {}],
  ['is passed on by a prompt', 'prompts/get', passOn],
  ['becomes another one', 'prompts/get', () => passOn(new Error('mine'))],
])('state that does not fit ends the call with the frozen error, which %s', async (_how, method, onError) => {
  const { reply, seen, errors } = await read({ replicas: 'three' }, Plan, onError, method);
  expect(reply).toEqual(REJECTED);
  expect(seen).toEqual([]);
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatch(
    /rejected: wrong_version \(other_schema\): the state does not fit its schema at 'replicas'$/,
  );
});

test('the reason names the field, and not its value, which a schema may quote', async () => {
  const quoting = z.object({
    card: z.string().refine(() => false, { error: ({ input }) => `${input} is no card` }),
  });
  const { errors } = await read({ card: '4111 1111' }, quoting);
  expect(errors.join()).toMatch(/at 'card'$/);
});

test('state that is not JSON is rejected as well', async () => {
  const { reply, errors } = await read('{"replicas":');
  expect(reply).toEqual(REJECTED);
  expect(errors[0]).toMatch(/rejected: wrong_version \(other_schema\): the state is not JSON$/);
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
