import { expect, test } from 'vitest';
import { z } from 'zod';
import { elicitation } from './elicitation.ts';
import { listRoots, sampling } from './model-and-roots.ts';
import { questionDigest } from './question.ts';
import { isInputRequest, type StandardSchemaWithJSON } from './wire.ts';

const form = () => z.object({ units: z.enum(['metric', 'imperial']), note: z.string().optional() });

test('a question is prepared once: its request, its digest and its fields', () => {
  const schema = form();
  const question = elicitation('Which units?', schema);
  expect(question).toEqual({
    kind: 'elicitation',
    message: 'Which units?',
    schema,
    request: {
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: 'Which units?',
        requestedSchema: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          properties: {
            units: { type: 'string', enum: ['metric', 'imperial'] },
            note: { type: 'string' },
          },
          required: ['units'],
        },
      },
    },
    digest: expect.stringMatching(/^[\w-]{8}$/),
    fields: ['units', 'note'],
    read: expect.any(Function),
    keep: expect.any(Function),
  });
  expect(question.digest).toBe(questionDigest(question.request));
  expect(isInputRequest(question.request)).toBe(true);
});

test('equal questions have one digest, from one schema or from two', () => {
  const schema = form();
  const digests = [schema, schema, form()].map((each) => elicitation('Which units?', each).digest);
  expect(new Set(digests).size).toBe(1);
});

test.each<[string, string, z.ZodObject]>([
  ['message', 'Which units, please?', form()],
  ['choices', 'Which units?', z.object({ units: z.enum(['metric', 'kelvin']), note: z.string().optional() })],
  [
    'order of the choices',
    'Which units?',
    z.object({ units: z.enum(['imperial', 'metric']), note: z.string().optional() }),
  ],
  ['fields', 'Which units?', z.object({ units: z.enum(['metric', 'imperial']) })],
  ['required fields', 'Which units?', z.object({ units: z.enum(['metric', 'imperial']), note: z.string() })],
  [
    'title of a field',
    'Which units?',
    form().extend({ note: z.string().optional().meta({ title: 'Note' }) }),
  ],
])('a change of the %s changes the digest', (_what, message, schema) => {
  expect(elicitation(message, schema).digest).not.toBe(elicitation('Which units?', form()).digest);
});

test('the digest knows the method: the same parameters asked in another way are another question', () => {
  const { request } = elicitation('Which units?', form());
  const digests = [
    request,
    { ...request, method: 'roots/list' },
    sampling({ messages: [], maxTokens: 1 }).request,
  ];
  expect(new Set(digests.map((each) => questionDigest(each as typeof request))).size).toBe(3);
  expect(listRoots().digest).toBe(listRoots().digest);
});

/** A schema of a library of its own, which counts how often it is converted. */
function counted(properties: Record<string, unknown>): {
  schema: StandardSchemaWithJSON;
  conversions: () => number;
} {
  let conversions = 0;
  const convert = () => {
    conversions++;
    return { type: 'object', properties };
  };
  const validate = (value: unknown) => ({ value });
  const jsonSchema = { input: convert, output: convert };
  const schema = { '~standard': { version: 1 as const, vendor: 'counted', validate, jsonSchema } };
  return { schema, conversions: () => conversions };
}

test('a schema is converted once, however many questions are asked with it', () => {
  const { schema, conversions } = counted({ a: { type: 'string' } });
  const questions = ['One?', 'Two?', 'One?'].map((message) => elicitation(message, schema));
  expect(conversions()).toBe(1);
  expect(questions.map(({ digest }) => digest === questions[0]?.digest)).toEqual([true, false, true]);
  expect(
    questions.map(({ message, request }) => (request.params as { message: string }).message === message),
  ).toEqual(Array(3).fill(true));
});

test.each([
  ['an object in a field', z.object({ address: z.object({ street: z.string() }) })],
  ['a list of objects', z.object({ items: z.array(z.object({ id: z.number() })) })],
  ['a pattern', z.object({ code: z.string().regex(/^\d+$/) })],
  ['no object at all', z.string() as unknown as z.ZodObject],
])('a schema with %s cannot be shown as a form, and is refused when it is prepared', (_what, schema) => {
  expect(() => elicitation('Where?', schema)).toThrow(TypeError);
});

test('of an answer, only what was asked for is kept', () => {
  const { keep } = elicitation('Which units?', form());
  const extra = { units: 'metric', admin: true, constructor: 'x' };
  expect(keep({ action: 'accept', content: extra, _meta: { a: 1 } })).toEqual({
    action: 'accept',
    content: { units: 'metric' },
  });
  expect(keep({ action: 'accept', content: null })).toEqual({ action: 'accept' });
  expect(keep({ action: 'decline', content: { units: 'metric' } })).toEqual({ action: 'decline' });
  expect(keep({ action: 'cancel' })).toEqual({ action: 'cancel' });
});

test('questions to the model and about the roots are the requests that the revision defines', () => {
  const params = { messages: [], maxTokens: 9 };
  expect(sampling(params)).toEqual({
    kind: 'sampling',
    message: 'sampling/createMessage',
    request: { method: 'sampling/createMessage', params },
    digest: expect.stringMatching(/^[\w-]{8}$/),
    read: expect.any(Function),
    keep: expect.any(Function),
  });
  expect(listRoots()).toMatchObject({
    kind: 'roots',
    message: 'roots/list',
    request: { method: 'roots/list' },
  });
});
