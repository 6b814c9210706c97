import { fromJsonSchema } from '@modelcontextprotocol/server';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { elicitation } from './elicitation.ts';
import { listRoots, sampling } from './model-and-roots.ts';
import { isQuestion, questionDigest } from './question.ts';

const sure = elicitation('Sure?', z.object({ sure: z.boolean() }));

test('only elicitation, sampling and listRoots make questions', () => {
  const made = [
    sure,
    { ...sure, fallback: { sure: true } },
    sampling({ messages: [], maxTokens: 1 }),
    listRoots(),
  ];
  expect(made.map(isQuestion)).toEqual(made.map(() => true));
  const { request, digest, kind, message, read, keep } = sure;
  const others = [
    { request, digest, kind, message, read, keep },
    request,
    null,
    undefined,
    'Sure?',
    () => sure,
  ];
  expect(others.map(isQuestion)).toEqual(others.map(() => false));
});

test('a second copy of this module knows the questions of the first', async () => {
  vi.resetModules();
  const copy = await import('./question.ts');
  expect(copy.isQuestion).not.toBe(isQuestion);
  expect(copy.isQuestion(sure)).toBe(true);
});

test('the form of a question cannot change, and the schema that its author gave still can', () => {
  const schema = { type: 'object', properties: { sure: { type: 'boolean', title: 'Sure?' } } } as const;
  const { request, digest } = elicitation('Sure?', fromJsonSchema(schema as never));
  const { requestedSchema } = request.params as unknown as { requestedSchema: typeof schema };
  expect(() => Object.assign(requestedSchema.properties.sure, { title: 'Not sure?' })).toThrow(TypeError);
  Object.assign(schema.properties.sure, { title: 'Not sure?' });
  expect(requestedSchema.properties.sure.title).toBe('Sure?');
  expect(questionDigest(request)).toBe(digest);
  expect(questionDigest(structuredClone(request))).toBe(digest);
});

test('a request that its author changes has another digest', () => {
  const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Who?' } }];
  const { request, digest } = sampling({ messages, maxTokens: 1 });
  expect(questionDigest(request)).toBe(digest);
  Object.assign(messages[0]?.content ?? {}, { text: 'Where?' });
  expect(questionDigest(request)).not.toBe(digest);
});
