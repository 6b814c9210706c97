/** Shows which code compiles and which must not. `tsc` checks this file; little of it runs. */

import type {
  CallToolResult,
  CreateMessageResultWithTools,
  GetPromptResult,
  ListRootsResult,
  ReadResourceResult,
  ServerContext,
} from '@modelcontextprotocol/server';
import { McpServer } from '@modelcontextprotocol/server';
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { type RequestStateOptions, requestStatePolicy } from './admission/policy.ts';
import { shapeCallback } from './admission/shape-callback.ts';
import { readAnswer } from './answers/read-answer.ts';
import { elicitation } from './questions/elicitation.ts';
import { type listRoots, sampling } from './questions/model-and-roots.ts';
import type { AnswerOf, Answers, Question } from './questions/question.ts';
import { InvalidOption } from './support/errors.ts';
import type { Call } from './wire/call.ts';
import { textResult } from './wire/results.ts';
import type { SdkCallback } from './wire/wire.ts';

test('an environment variable can be a key under `strict`, and the error for an unset one names its place', () => {
  expect(() => requestStatePolicy({ keys: [process.env.MRTR_NOT_SET] })).toThrow(InvalidOption);
  expectTypeOf([process.env.STATE_KEY]).toExtend<NonNullable<RequestStateOptions['keys']>>();
  // @ts-expect-error Keys are a list.
  expect(() => requestStatePolicy({ keys: process.env.MRTR_NOT_SET ?? '' })).toThrow(InvalidOption);
  // @ts-expect-error The principal is text.
  const numbered: RequestStateOptions = { principal: () => 42 };
  expectTypeOf(numbered).toEqualTypeOf<RequestStateOptions>();
  expectTypeOf<() => Promise<string | undefined>>().toExtend<NonNullable<RequestStateOptions['principal']>>();
});

test('a callback of a shape can be registered with and without a schema, without a cast', () => {
  const server = new McpServer({ name: 'types', version: '1' });
  const tool = shapeCallback('t', async (_: { city: string }): Promise<CallToolResult> => textResult(''));
  const bareTool = shapeCallback('t', async (): Promise<CallToolResult> => textResult(''));
  const prompt = shapeCallback(
    't',
    async (_: { of: string }): Promise<GetPromptResult> => ({ messages: [] }),
  );
  const barePrompt = shapeCallback('t', async (): Promise<GetPromptResult> => ({ messages: [] }));
  const resource = shapeCallback('t', async (_: URL): Promise<ReadResourceResult> => ({ contents: [] }));
  server.registerTool('with', { inputSchema: z.object({ city: z.string() }) }, tool);
  server.registerTool('without', {}, tool);
  server.registerTool('bare', {}, bareTool);
  server.registerTool('bare-with', { inputSchema: z.object({ city: z.string() }) }, bareTool);
  server.registerPrompt('with', { argsSchema: z.object({ of: z.string() }) }, prompt);
  server.registerPrompt('without', {}, prompt);
  server.registerPrompt('bare', {}, barePrompt);
  server.registerResource('resource', 'r://r', {}, resource);
  // @ts-expect-error The schema has no `city`.
  server.registerTool('other-input', { inputSchema: z.object({ town: z.string() }) }, tool);
  // @ts-expect-error A prompt does not give a tool's result.
  server.registerPrompt('other-result', {}, bareTool);
  expectTypeOf(tool).toEqualTypeOf<SdkCallback<{ city: string }, CallToolResult>>();
});

test('only core makes questions', () => {
  // @ts-expect-error Without the brand it is not a question.
  const forged: Question = {
    kind: 'roots',
    message: '',
    request: { method: 'roots/list' },
    digest: '',
    read: () => ({ kind: 'missing' }),
    keep: () => undefined,
  };
  expect(forged).toBeDefined();
});

test('the value of an answer is the output of the schema', () => {
  const age = elicitation('Age?', z.object({ age: z.number().default(18) }), { fallback: { age: 18 } });
  expectTypeOf<AnswerOf<typeof age>>().toEqualTypeOf<{ age: number }>();
  expectTypeOf<Answers<{ a: typeof age; r: ReturnType<typeof listRoots> }>>().toEqualTypeOf<{
    a: { age: number };
    r: ListRootsResult;
  }>();
  const read = (ctx: ServerContext) => {
    const answer = readAnswer(ctx, 'age', age);
    return answer.kind === 'accepted' ? answer.value.age : undefined;
  };
  expectTypeOf(read).returns.toEqualTypeOf<number | undefined>();
  const withTools = sampling({ messages: [], maxTokens: 1, tools: [] });
  expectTypeOf(withTools).toEqualTypeOf<Question<CreateMessageResultWithTools>>();
  // @ts-expect-error `fallback` must fit the schema.
  elicitation('Age?', z.object({ age: z.number() }), { fallback: { age: 'old' } });
});

test('the record of a call is read-only', () => {
  const change = (call: Call) => {
    // @ts-expect-error Read-only.
    call.round = 1;
    // @ts-expect-error Read-only.
    call.asked?.set('a', 'b');
  };
  expect(change).toBeTypeOf('function');
});
