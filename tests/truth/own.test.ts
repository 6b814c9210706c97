/** The page's model of a server of the user's own, whose effects only she knows. */
import { eventsOf, rowsOf, type Transcript } from '@mrtr/harness/transcript';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { standsAt } from '../../tools/lab/page/src/viewer/code.ts';
import { withEffects } from '../../tools/lab/page/src/viewer/effects.ts';
import { describe, factsOf } from '../../tools/lab/page/src/viewer/sentence.ts';
import { conversationsWith } from './conversations.ts';
import { countLines } from './recount.ts';

const FILE = 'author.ts';
const TEXT = ['a();', 'b();', 'c();', 'd();', 'e();', 'f();'].join('\n');

/** A conversation as an own server's: nobody has seen its effects or its world. */
const foreign = conversationsWith(fc.constant('said')).map(
  (one): Transcript => ({
    ...one,
    participants: one.participants.filter(({ kind }) => kind !== 'world'),
    events: one.events.filter(({ kind }) => kind !== 'effect'),
  }),
);

function sentenceOf(conversation: Transcript): string {
  const { events } = conversation;
  const rows = rowsOf(conversation);
  const stand = standsAt(events, rows, false);
  return describe(factsOf({ name: 'pay', conversation, rows, events, stand, isEnd: true }));
}

/** Reads the numbers of `lines 1 to 3 and 5`. */
function linesIn(words: string): number[] {
  return [...words.matchAll(/(\d+)(?: to (\d+))?/g)].flatMap(([, from, to = from]) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => Number(from) + at),
  );
}

test('the sentence names the lines that ran in more than one entry, and no other', () => {
  let named = 0;
  fc.assert(
    fc.property(foreign, (conversation) => {
      const [, entered, again] =
        /was entered (.+): (?:lines? (.+)|no line) ran again\.$/.exec(sentenceOf(conversation)) ?? [];
      if (entered === undefined) return;
      named++;
      const expected = countLines(conversation.events, FILE).filter(({ count }) => count > 1);
      expect(linesIn(again ?? '')).toEqual(expected.map(({ line }) => line).sort((a, b) => a - b));
    }),
    { seed: 20260728, numRuns: 500 },
  );
  expect(named).toBeGreaterThan(50);
});

test('a line that is named an effect has one for each run, and a second one is red; no line or message is lost', () => {
  let effects = 0;
  fc.assert(
    fc.property(foreign, fc.subarray([1, 2, 3, 4, 5, 6]), (conversation, lines) => {
      const seen = withEffects(conversation, { file: FILE, text: TEXT, lines });
      const placesIn = ({ events }: Transcript) =>
        eventsOf('lines', events).flatMap(({ order = [] }) => order.map(([, line]) => line));
      expect(placesIn(seen)).toEqual(placesIn(conversation));
      const runs = placesIn(conversation).filter((line) => lines.includes(line));
      const drawn = rowsOf(seen).filter(({ event }) => event.kind === 'effect');
      expect(drawn.map(({ event }) => event.kind === 'effect' && `${event.name}: ${event.detail};`)).toEqual(
        runs.map((line) => `line ${line}: ${TEXT.split('\n')[line - 1]}`),
      );
      for (const [at, { text }] of drawn.entries())
        expect(text.includes('AGAIN')).toBe(runs.indexOf(runs[at] as number) < at);
      const others = (one: Transcript) =>
        one.events.filter(({ kind }) => kind !== 'lines' && kind !== 'effect');
      expect(others(seen)).toEqual(others(conversation));
      effects += drawn.length;
    }),
    { seed: 20260728 },
  );
  expect(effects).toBeGreaterThan(50);
});

const call = (id: number, more = {}) =>
  ({ kind: 'message', from: 'client', to: 'i1', message: { id, method: 'tools/call' }, ...more }) as const;
const answer = (id: number, result: object, more = {}) =>
  ({ kind: 'message', from: 'i1', to: 'client', message: { id, ...result }, ...more }) as const;
const text = (said: string) => ({
  result: { resultType: 'complete', content: [{ type: 'text', text: said }] },
});
const asks = (...keys: readonly string[]) => ({
  result: {
    resultType: 'input_required',
    inputRequests: Object.fromEntries(keys.map((key) => [key, { method: 'elicitation/create', params: {} }])),
  },
});
const talk = (...events: readonly object[]) =>
  ({
    title: 'pay',
    participants: [{ id: 'i1', kind: 'instance', label: 'server' }],
    events: events.map((event, at) => ({ at, ...event })),
    end: { result: { content: [] } },
  }) as unknown as Transcript;
const said = (...events: readonly object[]) => sentenceOf(talk(...events));

test('says of a changed state and of a retry that came twice what the server answered', () => {
  const failed = { error: { code: -32602, message: 'no' } };
  const changed = [call(1, { lost: true, replaced: true }), call(1, { altered: true })];
  expect(said(...changed, answer(1, text('paid')))).toBe(
    'pay took a state that was changed on its way: paid',
  );
  expect(said(...changed, answer(1, failed))).toBe('pay rejected the state that was changed on its way.');
  // An earlier round believed it, and the last one was honest.
  const earlier = (...keys: readonly string[]) =>
    said(
      call(0),
      answer(0, asks('sure')),
      ...changed,
      answer(1, asks(...keys)),
      call(2),
      answer(2, text('paid')),
    );
  expect(earlier('note')).toBe('pay took a state that was changed on its way: it asked “note” next.');
  expect(earlier('sure')).toBe('pay asked nothing, and answered.');
  const twice = (other: string) =>
    said(call(1), answer(1, text('No 1'), { lost: true }), call(1, { again: true }), answer(1, text(other)));
  expect(twice('No 2')).toBe('pay gave one retry two results: “No 1” and “No 2”');
  expect(twice('No 1')).toBe('pay asked nothing, and answered.');
});

test('says that a named line ran although the user had declined', () => {
  const ran = (line: number) => ({
    kind: 'lines',
    instance: 'i1',
    files: { [FILE]: { [line]: 1 } },
    order: [[FILE, line]],
  });
  const question = { kind: 'question', to: 'person', id: 1, message: 'Pay?', schema: {}, framesHeld: 0 };
  const replied = (...actions: readonly string[]) => {
    const long = `await charge(${'customer, '.repeat(9)}amount);`;
    const replies = actions.flatMap((action) => [
      question,
      { kind: 'answer', from: 'person', id: 1, reply: { action } },
    ]);
    const entry = { kind: 'entry', instance: 'i1', part: 'handler' };
    const events = [...replies, call(2), entry, ran(2), answer(2, text('paid'))];
    return sentenceOf(withEffects(talk(...events), { file: FILE, text: `a();\n${long}`, lines: [2] }));
  };
  const charged = 'await charge(customer, customer, customer, customer…';
  for (const action of ['decline', 'cancel'])
    expect(replied('accept', action)).toBe(`pay ran ${charged}, and the user had declined.`);
  expect(replied('decline', 'accept')).toBe(
    'pay’s handler was entered once: no line ran again, and its effect came once.',
  );
});
