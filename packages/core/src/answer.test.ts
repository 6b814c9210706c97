import type { ServerContext } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { interpret, isRefusal, isSettled, ownEntry, readAnswer } from './answer.ts';
import { elicitation } from './elicitation.ts';
import { hosted } from './hosted.test-support.ts';
import { listRoots, sampling } from './model-and-roots.ts';
import type { Question } from './question.ts';
import { textResult } from './results.ts';
import { inputRequired } from './wire.ts';

const units = elicitation('Which units?', z.object({ units: z.enum(['metric', 'imperial']) }));
const accept = (content: unknown) => ({ action: 'accept', content });

test.each([
  ['accepted', accept({ units: 'metric' }), { kind: 'accepted', value: { units: 'metric' } }],
  ['declined', { action: 'decline' }, { kind: 'declined' }],
  [
    'declined, whatever comes with it',
    { action: 'decline', content: { units: 'metric' } },
    { kind: 'declined' },
  ],
  ['cancelled', { action: 'cancel' }, { kind: 'cancelled' }],
  ['missing, for nothing came', undefined, { kind: 'missing' }],
  ['missing, for it was accepted without content', { action: 'accept' }, { kind: 'missing' }],
  ['missing, for the content is nothing', accept(null), { kind: 'missing' }],
  ['missing, for the content is a list', accept([{ units: 'metric' }]), { kind: 'missing' }],
  [
    'missing, for the action is none of the three',
    { action: 'perhaps', content: { units: 'metric' } },
    { kind: 'missing' },
  ],
  ['missing, for it answers another kind of question', { roots: [] }, { kind: 'missing' }],
  ['missing, for it is wrapped', { result: accept({ units: 'metric' }) }, { kind: 'missing' }],
  ['missing, for it is text', 'accept', { kind: 'missing' }],
  [
    'invalid, for the value is not offered',
    accept({ units: 'kelvin' }),
    { kind: 'invalid', issues: [expect.objectContaining({ path: ['units'] })] },
  ],
  [
    'invalid, for the field is empty',
    accept({}),
    { kind: 'invalid', issues: [expect.objectContaining({ path: ['units'] })] },
  ],
])('an answer is %s', (_what, response, answer) => {
  expect(interpret(response, units)).toEqual(answer);
});

test('the value of an accepted answer is what the schema made of it', () => {
  const age = elicitation('How old?', z.object({ age: z.number().int().default(18) }));
  expect(interpret(accept({ age: 7, admin: true }), age)).toEqual({ kind: 'accepted', value: { age: 7 } });
  expect(interpret(accept({}), age)).toEqual({ kind: 'accepted', value: { age: 18 } });
});

test('an acceptance without content answers a form that needs none', () => {
  const note = elicitation('Any note?', z.object({ note: z.string().optional() }));
  expect(interpret({ action: 'accept' }, note)).toEqual({ kind: 'accepted', value: {} });
});

test('a schema that validates asynchronously is refused when an answer comes, by its question', () => {
  const name = elicitation('Which name?', z.object({ name: z.string().refine(async () => true) }));
  expect(() => interpret(accept({ name: 'x' }), name)).toThrow(
    new TypeError('The schema of "Which name?" validates asynchronously; answers are read synchronously.'),
  );
});

test.each([
  [{ kind: 'accepted', value: 1 }, true, false],
  [{ kind: 'declined' }, true, true],
  [{ kind: 'cancelled' }, true, true],
  [{ kind: 'missing' }, false, false],
  [{ kind: 'invalid', issues: [] }, false, false],
] as const)('%j: settled %s, refused %s', (answer, settled, refused) => {
  expect([isSettled(answer), isRefusal(answer)]).toEqual([settled, refused]);
});

test('only an entry of its own counts, for a client names the keys', () => {
  const record = JSON.parse('{"own":1,"__proto__":{"inherited":2}}');
  expect(ownEntry(record, 'own')).toBe(1);
  expect(ownEntry(record, '__proto__')).toEqual({ inherited: 2 });
  expect(ownEntry(Object.create({ inherited: 2 }), 'inherited')).toBeUndefined();
  for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    expect(ownEntry({}, key), key).toBeUndefined();
  }
  expect(ownEntry(undefined, 'any')).toBeUndefined();
});

/** What a handler reads of each question when a client answers with `inputResponses`. */
async function readsOf(questions: Record<string, Question>, inputResponses: unknown): Promise<unknown> {
  let read: unknown;
  const { post } = hosted((server) => {
    server.registerTool('ask', {}, (ctx: ServerContext) => {
      read = Object.fromEntries(
        Object.keys(questions).map((key) => [key, readAnswer(ctx, key, questions[key] as Question)]),
      );
      return textResult('');
    });
  });
  await post('tools/call', { name: 'ask', inputResponses });
  return read;
}

test('a handler reads each answer of the round under its key, and knows nothing of the rest', async () => {
  const responses = {
    a: accept({ units: 'metric' }),
    b: { action: 'decline' },
    d: accept({ units: 'metric' }),
  };
  expect(await readsOf({ a: units, b: units, c: units }, responses)).toEqual({
    a: { kind: 'accepted', value: { units: 'metric' } },
    b: { kind: 'declined' },
    c: { kind: 'missing' },
  });
});

test.each([
  ['nothing', undefined],
  ['a list', [accept({ units: 'metric' })]],
  ['text', 'a'],
  ['null', null],
])('a client that answers with %s has answered nothing', async (_what, responses) => {
  expect(await readsOf({ a: units, 0: units }, responses)).toEqual({
    0: { kind: 'missing' },
    a: { kind: 'missing' },
  });
});

test.each(['__proto__', 'constructor', 'toString'])(
  'no answer is found under the inherited key %s',
  async (key) => {
    expect(await readsOf(Object.fromEntries([[key, units]]), {})).toEqual(
      Object.fromEntries([[key, { kind: 'missing' }]]),
    );
  },
);

test('an answer is not found through a prototype that the client chose', async () => {
  const responses = JSON.parse('{"__proto__":{"units":{"action":"accept","content":{"units":"metric"}}}}');
  expect(await readsOf({ units }, responses)).toEqual({ units: { kind: 'missing' } });
});

test('a model’s message and a list of roots are read by what they are', async () => {
  const message = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Hi.' } };
  const roots = { roots: [{ uri: 'file:///home' }] };
  const questions = { model: sampling({ messages: [], maxTokens: 9 }), roots: listRoots() };
  expect(await readsOf(questions, { model: message, roots })).toEqual({
    model: { kind: 'accepted', value: message },
    roots: { kind: 'accepted', value: roots },
  });
  expect(await readsOf(questions, { model: roots })).toEqual({
    model: { kind: 'invalid', issues: [{ message: 'This is no result of sampling/createMessage.' }] },
    roots: { kind: 'missing' },
  });
});

test('a question goes out as it was prepared', async () => {
  const { post } = hosted((server) => {
    server.registerTool('ask', {}, () => inputRequired({ inputRequests: { units: units.request } }));
  });
  const { result } = await post('tools/call', { name: 'ask' });
  expect(result?.inputRequests).toEqual({ units: units.request });
});
