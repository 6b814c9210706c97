import { callSubject, type SubjectCall } from '@mrtr/comparison/calls';
import { type ClientApplication, scriptedUser } from '@mrtr/harness';
import { eventsOf, type Transcript, tally } from '@mrtr/harness/transcript';
import { describe, expect, test } from 'vitest';
import { demo } from './demo.ts';

const MODERN = { client: 'modern', hosting: 'memory', legacy: 'degrade' } as const;
const OLD = { client: 'legacy', hosting: 'memory', legacy: 'shim' } as const;

const bicycles = { uri: 'file:///home/ada/bicycles', name: 'bicycles' };
const attic = { uri: 'file:///home/ada/attic' };

/** A model that repeats its instructions. */
const parrot: NonNullable<ClientApplication['model']> = ({ messages }) => ({
  role: 'assistant',
  content: { type: 'text', text: JSON.stringify(messages[0]?.content) },
  model: 'parrot',
});

type Differing = Partial<Omit<SubjectCall, 'subject' | 'call'>>;

const summarise = (subject: SubjectCall['subject'], differing: Differing = {}): Promise<Transcript> =>
  callSubject({
    subject,
    call: { method: 'tools/call', params: { name: 'summarise', arguments: { words: 5 } } },
    user: scriptedUser({}),
    model: parrot,
    roots: [bicycles, attic],
    ...MODERN,
    ...differing,
  });

const kindsAsked = ({ events }: Transcript) =>
  events.flatMap(({ kind }) => (kind === 'roots' || kind === 'model' || kind === 'answer' ? [kind] : []));
const textOf = ({ end }: Transcript) => (end.result as { content: { text: string }[] }).content[0]?.text;
describe.each(demo.subjects.map((subject) => [subject.id, subject] as const))('shape %s', (id, subject) => {
  test.each([
    ['a modern client', MODERN],
    ['any instance of a fleet', { ...MODERN, hosting: 'fleet' }],
    ['instances that restart in between', { ...MODERN, hosting: 'restart' }],
    ['an old client, over the stream that it holds', OLD],
  ] as const)("has the client's model summarise the first root, on %s", async (_, where) => {
    const conversation = await summarise(subject, where);
    expect(kindsAsked(conversation)).toEqual(['roots', 'model']);
    expect(textOf(conversation)).toMatch(/Summarise in at most 5 words:.+# bicycles.+second-hand bicycles/);
  });

  test.each([
    ['no model', { model: undefined }],
    ['no roots', { roots: undefined }],
    ['neither', { model: undefined, roots: undefined }],
    ['no stream to be asked over', { ...OLD, hosting: 'fleet' }],
    ['no shim to be asked by', { ...OLD, legacy: 'degrade' }],
  ] as const)('asks nothing of a client with %s, and says what it would need', async (_, differing) => {
    const conversation = await summarise(subject, differing);
    expect(kindsAsked(conversation)).toEqual([]);
    expect(conversation.end.result).toMatchObject({
      isError: true,
      content: [{ text: 'Summarising needs a client with a model (sampling) and an open project (roots).' }],
    });
  });

  test('leaves the model alone when no project is open', async () => {
    for (const where of [MODERN, OLD]) {
      const conversation = await summarise(subject, { ...where, roots: [] });
      expect(kindsAsked(conversation)).toEqual(['roots']);
      expect(conversation.end.result).toMatchObject({
        isError: true,
        content: [{ text: 'No project is open.' }],
      });
    }
  });

  test(`reads the README ${id === 'j' ? 'once' : 'in each round, unguarded'}`, async () => {
    const { events } = await summarise(subject);
    const guards = eventsOf('guard', events).map(({ key, phase }) => `${key} ${phase}`);
    expect(guards).toEqual(id === 'j' ? ['readme ran', 'readme skipped'] : []);
  });
});

test('a model that fails ends the call with an error, and nothing is held', async () => {
  for (const subject of demo.subjects) {
    const conversation = await summarise(subject, {
      model: () => {
        throw new Error('The model is out of tokens.');
      },
    });
    expect(conversation.end.error).toBeDefined();
    expect(tally(conversation).framesHeld).toBe(0);
  }
});
