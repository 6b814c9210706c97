import { expect, test } from 'vitest';
import { listRoots, sampling } from './model-and-roots.ts';

const params = { messages: [], maxTokens: 9 };
const tools = [{ name: 'weather', inputSchema: { type: 'object' as const } }];
const text = { type: 'text', text: 'Hi.' };
const toolUse = { type: 'tool_use', id: '1', name: 'weather', input: { city: 'Bern' } };
const answer = (content: unknown, rest = {}) => ({ role: 'assistant', model: 'm', content, ...rest });

test('questions to the model and about the roots are the requests of the revision', () => {
  expect(sampling(params)).toMatchObject({
    kind: 'sampling',
    message: 'sampling/createMessage',
    request: { method: 'sampling/createMessage', params },
    digest: expect.stringMatching(/^[\w-]{22}$/),
  });
  expect(listRoots()).toMatchObject({
    kind: 'roots',
    message: 'roots/list',
    request: { method: 'roots/list' },
  });
});

test.each([
  ['one text', answer(text)],
  ['a tool use', answer(toolUse, { stopReason: 'toolUse' })],
  ['several contents', answer([text, toolUse])],
])('with tools, the model may answer with %s', (_what, response) => {
  expect(sampling({ ...params, tools }).read(response)).toEqual({ kind: 'accepted', value: response });
});

test.each([{ tools }, { toolChoice: { mode: 'none' } }, { tools, toolChoice: { mode: 'auto' } }])(
  'a model that is given %j needs a client with the capability for tools',
  (more) => {
    expect(sampling({ ...params, ...more } as never).kind).toBe('sampling.tools');
  },
);

const NO_MESSAGE = {
  kind: 'invalid',
  issues: [{ message: 'This is not a result of sampling/createMessage.' }],
};

test('without tools, the model answers with one content, and not with a tool use', () => {
  expect(sampling(params).read(answer(text))).toEqual({ kind: 'accepted', value: answer(text) });
  expect(sampling(params).read(answer(toolUse))).toEqual(NO_MESSAGE);
});

test('an answer of another kind is invalid, and no answer is missing', () => {
  expect(sampling(params).read({ roots: [] })).toEqual(NO_MESSAGE);
  expect(listRoots().read(answer(text))).toEqual({
    kind: 'invalid',
    issues: [{ message: 'This is not a result of roots/list.' }],
  });
  expect([sampling(params), listRoots()].map(({ read }) => read(undefined))).toEqual([
    { kind: 'missing' },
    { kind: 'missing' },
  ]);
});
