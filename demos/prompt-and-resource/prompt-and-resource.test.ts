import { callSubject, type Subject, type SubjectCall } from '@mrtr/comparison/calls';
import { scriptedUser } from '@mrtr/harness';
import { eventsOf, hostView, messagesFrom, type Transcript, tally } from '@mrtr/harness/transcript';
import { describe, expect, test } from 'vitest';
import { CALLS, demo } from './demo.ts';

const NOTES = { type: 'text', text: 'Write the notes of release 2.0, for developers.' };
const REPORT = { uri: 'report://quarterly', mimeType: 'text/plain', text: 'Profit: 330 k USD.' };
const ANSWERED = [{ messages: [{ role: 'user', content: NOTES }] }, { contents: [REPORT] }];

const MODERN = { client: 'modern', hosting: 'memory', legacy: 'degrade' } as const;
const OLD = { client: 'legacy', hosting: 'memory', legacy: 'shim' } as const;

type Where = Pick<SubjectCall, 'client' | 'hosting' | 'legacy'>;

const ANSWERS = () => scriptedUser({ audience: ['developers'], currency: ['USD'] });

const both = (subject: Subject, where: Where, user = ANSWERS): Promise<Transcript[]> =>
  Promise.all(CALLS.map((call) => callSubject({ subject, ...where, call, user: user() })));

const shapes = demo.subjects.map((subject) => [subject.id, subject] as const);
const [[, firstShape]] = shapes as [(typeof shapes)[number]];
const resultsOf = (calls: readonly Transcript[]) => calls.map(({ end }) => end.result);
const countQuestions = (calls: readonly Transcript[]) => calls.map((call) => tally(call).questions);
const guards = ({ events }: Transcript) =>
  eventsOf('guard', events).map(({ key, phase }) => `${key} ${phase}`);
const errorsOf = (calls: readonly Transcript[]) =>
  calls.map(({ end, events }) => end.error && messagesFrom('server', events).at(-1)?.error);
const errorLike = (message: unknown) => Array(2).fill(expect.objectContaining({ code: -32600, message }));

describe.each(shapes)('shape %s', (id, subject) => {
  test.each([
    ['a modern client', MODERN],
    ['an old client, over the stream that it holds', OLD],
  ])('asks the user of %s, and answers as every other shape', async (_, where) => {
    const calls = await both(subject, where);
    expect(countQuestions(calls)).toEqual([1, 1]);
    expect(resultsOf(calls)).toMatchObject(ANSWERED);
    expect(calls.map(hostView)).toEqual((await both(firstShape, where)).map(hostView));
    // H and I need no guard for the query, so they publish no guarded effect.
    const [, report] = calls as [Transcript, Transcript];
    expect(guards(report)).toEqual(id === 'f' || id === 'j' ? ['figures ran', 'figures skipped'] : []);
  });

  test.each([
    ['declared no elicitation', { ...MODERN, client: 'unaskable' }],
    ['is an old one that the policy does not ask', { ...OLD, legacy: 'degrade' }],
    ['is an old one on stateless hosting', { ...OLD, hosting: 'fleet' }],
  ] as const)('answers with its default if the client %s', async (_, where) => {
    const calls = await both(subject, where);
    expect(countQuestions(calls)).toEqual([0, 0]);
    const texts = resultsOf(calls).map((result) => JSON.stringify(result));
    expect(texts).toMatchObject(
      ['for customers.', '300 k EUR.'].map((text) => expect.stringContaining(text)),
    );
  });

  const survives =
    id === 'h' ? 'rejects a call on another instance, with the reason,' : 'resumes a call on any instance,';
  test.each(['fleet', 'restart'] as const)(
    `${survives} and so it does after a restart: %s`,
    async (hosting) => {
      const calls = await both(subject, { ...MODERN, hosting });
      if (id !== 'h') expect(resultsOf(calls)).toMatchObject(ANSWERED);
      else expect(errorsOf(calls)).toEqual(errorLike(expect.stringContaining('held by another process')));
    },
  );
});
