/** Shows which code compiles and which must not. `tsc` checks this file; little of it runs. */

import type {
  CreateMessageResultWithTools,
  ListRootsResult,
  ServerContext,
} from '@modelcontextprotocol/server';
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { type RequestStateOptions, requestStatePolicy } from './admission/policy.ts';
import { readAnswer } from './answers/read-answer.ts';
import { InvalidOption } from './errors.ts';
import { elicitation } from './questions/elicitation.ts';
import { type listRoots, sampling } from './questions/model-and-roots.ts';
import type { AnswerOf, Answers, Question } from './questions/question.ts';

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
