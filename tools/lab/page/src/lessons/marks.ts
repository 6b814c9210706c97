/** The marks of each lesson, found in what really happened. */

import type { Reply } from '@mrtr/harness';
import { CLIENT, eventsOf, objectIn, type QuestionEvent, resultText, tally } from '@mrtr/harness/transcript';
import { choicesOf } from '@mrtr/harness/transcript/choices';
import { outcomeOf } from '@mrtr/matrix/deploy/outcome';
import type { LessonSide } from '../../../src/lessons.ts';
import type { TranscriptSoFar } from '../../../src/protocol.ts';
import type { SetUp } from '../../../src/set-up.ts';

/** A part of a task: its text, and whether a call that has ended fulfils it. */
export type Mark = readonly [words: string, meets: (seen: SeenCall) => boolean];

export type SeenCall = ReturnType<typeof readCall>;

/** Reads the facts for the marks from a call that has ended. */
export function readCall(side: LessonSide, conversation: TranscriptSoFar) {
  const setUp: Partial<SetUp> = 'option' in side ? side : {};
  const { events, end, participants } = conversation;
  const messages = eventsOf('message', events);
  const { effects, questions } = tally(conversation);
  const text = end?.result && resultText(end.result);
  const instances = messages.flatMap(({ from, to, message, lost }) =>
    from === CLIENT && message.method === 'tools/call' && !lost && to !== undefined ? [to] : [],
  );
  const reply = eventsOf('answer', events)[0]?.reply ?? 'silence';
  const said = reply === 'silence' ? undefined : String(Object.values(reply.content ?? {})[0] ?? '');
  return {
    ...setUp,
    /** Whether a program answered instead of a person. */
    isAgent: participants.some((one) => one.kind === 'person' && one.isAgent),
    isOfH: setUp.option === 'h',
    audits: effects.audit ?? 0,
    writes: effects.write ?? 0,
    questions,
    /** The rounds that reached an instance. */
    arrived: instances.length,
    /** Whether the rounds reached several instances, or one was killed. */
    hasMoved: new Set(instances).size > 1 || hasKill(conversation),
    isGood: text !== undefined && !end?.result?.isError && text !== 'Cancelled.',
    isError: end?.result?.isError === true,
    isTwice: messages.some(({ again }) => again),
    isAltered: messages.some(
      ({ altered, message }) => altered && 'requestState' in objectIn(message, 'params'),
    ),
    isUnasked: messages[1]?.altered === true,
    isRejected: eventsOf('state', events).some(({ phase }) => phase === 'rejected'),
    /** Whether the result differs from the user's first answer. */
    isTampered: said !== undefined && text !== undefined && !text.includes(said),
    /** The outcome of a deploy, if nothing else disturbed the call. */
    outcome: outcomeOfDeploy(conversation),
  };
}

const hasKill = ({ events }: TranscriptSoFar) => eventsOf('kill', events).length > 0;

export const MARKS: Readonly<Record<string, readonly Mark[]>> = {
  twice: [
    ['B wrote twice', ({ option, audits }) => option === 'b' && audits > 1],
    ['H wrote once', ({ isOfH, audits, isGood }) => isOfH && audits === 1 && isGood],
  ],
  lose: [
    ['H’s call was lost', ({ isOfH, hasMoved, isError }) => isOfH && hasMoved && isError],
    [
      'kept: the retry went to the instance that asked',
      ({ isOfH, instances, arrived, hasMoved, isGood }) =>
        isOfH && instances === 'two' && arrived > 1 && !hasMoved && isGood,
    ],
    [
      'kept: a shape whose state travels continued elsewhere',
      ({ isOfH, arrived, hasMoved, isGood }) => !isOfH && arrived > 1 && hasMoved && isGood,
    ],
  ],
  approval: [
    ['one approval wrote twice', ({ isTwice, writes }) => isTwice && writes > 1],
    [
      'with single use it wrote once',
      ({ singleUse, isTwice, writes }) => singleUse === true && isTwice && writes === 1,
    ],
  ],
  unasked: [
    [
      'written, and nobody was asked',
      ({ isUnasked, writes, questions }) => isUnasked && writes > 0 && questions === 0,
    ],
    ['dropped: the user was asked all the same', ({ isUnasked, questions }) => isUnasked && questions > 0],
  ],
  change: [
    [
      'the changed state was believed',
      ({ isAltered, writes, isGood, isTampered }) => isAltered && writes > 0 && isGood && isTampered,
    ],
    ['the sealed one was refused', ({ isAltered, isRejected }) => isAltered && isRejected],
  ],
  deploy: [
    ['one call finished, and asked nothing again', ({ outcome, isGood }) => outcome === 'finishes' && isGood],
    ['one asked again what had been answered', ({ outcome, isGood }) => outcome === 'asks again' && isGood],
    ['one was rejected, and told why', ({ outcome }) => outcome === 'rejects'],
  ],
  consent: [
    ['a program’s yes wrote', ({ isAgent, writes }) => isAgent && writes > 0],
    ['on the page it wrote nothing', ({ isAgent, writes }) => isAgent && writes === 0],
    ['a person’s yes wrote once', ({ isAgent, writes }) => !isAgent && writes === 1],
  ],
};

function outcomeOfDeploy(conversation: TranscriptSoFar) {
  const { events, end } = conversation;
  const changes = eventsOf('restart', events).map(({ deployed }) => deployed);
  const isSpared =
    !hasKill(conversation) &&
    !eventsOf('message', events).some(({ altered, again, lost }) => altered || again || lost) &&
    eventsOf('answer', events).every(fitsIts(eventsOf('question', events)));
  const isOther = changes.some((change) => change !== undefined && change !== 'nothing');
  return end && isOther && isSpared ? outcomeOf({ events, end }) : undefined;
}

/** Whether an answer accepts, with values that the form of its question offers. */
const fitsIts =
  (questions: readonly QuestionEvent[]) =>
  ({ id, reply }: { readonly id: number; readonly reply: Reply }) => {
    if (reply === 'silence' || reply.action !== 'accept') return false;
    const fields = objectIn(questions.find((question) => question.id === id)?.schema ?? {}, 'properties');
    return Object.entries(reply.content ?? {}).every(([name, value]) => {
      return choicesOf(objectIn(fields, name)).some((one) => one.value === value);
    });
  };
