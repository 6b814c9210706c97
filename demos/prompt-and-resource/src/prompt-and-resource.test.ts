import { type LogicalCall, type Reply, scriptedUser } from '@mrtr/harness';
import { eventsOf, hostView, messagesFrom, type Transcript, tally } from '@mrtr/harness/transcript';
import { type ConversationRequest, converse, type Subject } from '@mrtr/matrix';
import { describe, expect, test } from 'vitest';
import { SHAPES } from './index.ts';

const prompt: LogicalCall = {
  method: 'prompts/get',
  params: { name: 'release_notes', arguments: { version: '2.0' } },
};
const resource: LogicalCall = { method: 'resources/read', params: { uri: 'report://quarterly' } };

const developers = {
  messages: [
    { role: 'user', content: { type: 'text', text: 'Write the notes of release 2.0, for developers.' } },
  ],
};
const dollars = {
  contents: [{ uri: 'report://quarterly', mimeType: 'text/plain', text: 'Profit: 330 k USD.' }],
};

const MODERN = { client: 'modern', hosting: 'memory', legacy: 'degrade' } as const;
const OLD = { client: 'legacy', hosting: 'memory', legacy: 'shim' } as const;

type Where = Pick<ConversationRequest, 'client' | 'hosting' | 'legacy'>;

/** A call whose user answers with `audience` or `currency`. */
const call = (subject: Subject, where: Where, what: LogicalCall, replies: readonly (Reply | string)[] = []) =>
  converse({
    subject,
    ...where,
    call: what,
    user: scriptedUser({
      audience: replies.length > 0 ? replies : ['developers'],
      currency: replies.length > 0 ? replies : ['USD'],
    }),
  });

const shapes = SHAPES.map((subject) => [subject.id, subject] as const);
const stateless = shapes.filter(([id]) => id !== 'h');
const shape = (id: string) => SHAPES.find((subject) => subject.id === id) as Subject;

const countQuestions = (transcript: Transcript) => tally(transcript).questions;
const guards = ({ events }: Transcript) =>
  eventsOf('guard', events).map(({ key, phase }) => `${key} ${phase}`);
const rpcError = ({ events }: Transcript) =>
  messagesFrom('server', events)
    .flatMap(({ error }) => error ?? [])
    .at(-1);

describe.each(shapes)('shape %s', (id, subject) => {
  test.each([
    ['a modern client', MODERN],
    ['an old client, over the stream that it holds', OLD],
  ])('asks the user of %s, and answers', async (_, where) => {
    const notes = await call(subject, where, prompt);
    const report = await call(subject, where, resource);
    expect([countQuestions(notes), countQuestions(report)]).toEqual([1, 1]);
    expect(notes.end.result).toMatchObject(developers);
    expect(report.end.result).toMatchObject(dollars);
  });

  test.each([
    ['declines', 'decline', MODERN],
    ['dismisses the question', 'cancel', MODERN],
    ['declines, on an old client', 'decline', OLD],
    ['dismisses the question, on an old client', 'cancel', OLD],
  ] as const)('ends with a JSON-RPC error when the user %s', async (_, action, where) => {
    for (const what of [prompt, resource]) {
      const conversation = await call(subject, where, what, [{ action }]);
      expect(conversation.end.error).toBeDefined();
      expect(rpcError(conversation)).toMatchObject({
        code: -32600,
        message: expect.stringMatching(
          /^Cancelled: the question '\w+' was not answered\.$|^Nobody said |^The question '\w+' was (?:declined|dismissed)\./,
        ),
      });
      expect(countQuestions(conversation)).toBe(1);
    }
  });

  test('asks again after a nonsense answer, or none', async () => {
    for (const unfit of ['nonsense', 'silence']) {
      const notes = await call(subject, MODERN, prompt, [unfit, 'developers']);
      const report = await call(subject, MODERN, resource, [unfit, 'USD']);
      expect([countQuestions(notes), countQuestions(report)]).toEqual([2, 2]);
      expect(notes.end.result).toMatchObject(developers);
      expect(report.end.result).toMatchObject(dollars);
    }
  });

  test.each([
    ['declared no elicitation', { ...MODERN, client: 'mute' }],
    ['is an old one that the policy does not ask', { ...OLD, legacy: 'degrade' }],
    ['is an old one on stateless hosting', { ...OLD, hosting: 'fleet' }],
  ] as const)('answers with its default if the client %s', async (_, where) => {
    const notes = await call(subject, where, prompt);
    const report = await call(subject, where, resource);
    expect([countQuestions(notes), countQuestions(report)]).toEqual([0, 0]);
    expect(JSON.stringify(notes.end.result)).toContain('for customers.');
    expect(JSON.stringify(report.end.result)).toContain('300 k EUR.');
  });

  test('gives the application the same results as every other shape', async () => {
    for (const where of [MODERN, OLD]) {
      for (const what of [prompt, resource]) {
        const [own, other] = await Promise.all([call(subject, where, what), call(shape('f'), where, what)]);
        expect(hostView(own)).toEqual(hostView(other));
      }
    }
  });

  test(`queries the figures ${id === 'i' ? 'below' : 'above'} the question, once`, async () => {
    const guarded = ['figures ran', 'figures held'];
    // H and I need no guard, so they publish no guarded effect.
    const expected = id === 'f' || id === 'j' ? guarded : [];
    expect(guards(await call(subject, MODERN, resource))).toEqual(expected);
    expect(guards(await call(subject, OLD, resource))).toEqual(expected);
  });
});

test.each(stateless)('shape %s resumes a call on any instance, and after a restart', async (_, subject) => {
  for (const hosting of ['fleet', 'restart'] as const) {
    const where = { ...MODERN, hosting };
    expect((await call(subject, where, prompt)).end.result).toMatchObject(developers);
    expect((await call(subject, where, resource)).end.result).toMatchObject(dollars);
  }
});

test('another or a restarted instance refuses a call of shape h, with a JSON-RPC error that says why', async () => {
  for (const hosting of ['fleet', 'restart'] as const) {
    for (const what of [prompt, resource]) {
      const conversation = await call(shape('h'), { ...MODERN, hosting }, what);
      expect(conversation.end.result).toBeUndefined();
      expect(rpcError(conversation)).toMatchObject({
        code: -32600,
        message: expect.stringContaining('held by another server instance'),
      });
    }
  }
});

test('only shape h holds anything while the user thinks', async () => {
  for (const subject of SHAPES) {
    const { framesHeld } = tally(await call(subject, MODERN, resource));
    expect(framesHeld).toBe(subject.id === 'h' ? 1 : 0);
  }
});
