/** Six lessons: one idea each, and a task that the page recognises as solved by what really happened. */
import type { Reply } from '@mrtr/harness';
import { CLIENT, eventsOf, objectIn, type Question, resultText, tally } from '@mrtr/harness/transcript';
import { outcomeOf } from '@mrtr/matrix/deploy/outcome';
import type { DeployOutcome } from '@mrtr/option/deploys';
import type { Conversation, SetUp, SideState } from '../../../src/protocol.ts';

/** A part of a task: its id, its words, and whether the call that just ended on a side is it. */
export type Mark = readonly [id: string, words: string, isMet: (seen: Seen) => boolean];

export interface Lesson {
  readonly id: string;
  readonly title: string;
  readonly idea: string;
  readonly task: string;
  readonly hint: string;
  readonly setUps: readonly [SetUp, SetUp];
  readonly marks: readonly Mark[];
}

const setUp = (option: string, more: Partial<SetUp> = {}): SetUp => ({
  option,
  tool: 'weather',
  client: 'modern',
  instances: 'two',
  singleUse: false,
  ...more,
});

/** What the marks look at, of a call that has ended on a side. */
interface Seen extends SetUp {
  readonly isOfH: boolean;
  readonly audits: number;
  readonly writes: number;
  readonly questions: number;
  /** The rounds that reached an instance. */
  readonly arrived: number;
  /** Whether they reached several, or one was killed. */
  readonly hasMoved: boolean;
  readonly isGood: boolean;
  readonly isError: boolean;
  readonly isTwice: boolean;
  readonly isAltered: boolean;
  readonly isUnasked: boolean;
  readonly isRejected: boolean;
  /** Whether the end differs from what the user said first. */
  readonly isTampered: boolean;
  /** What a deploy, and nothing else that was done to the call, brought it to. */
  readonly outcome: DeployOutcome | undefined;
}

export function readCall({ setUp, conversation }: SideState): Seen {
  const { events, end } = conversation;
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
    isOfH: setUp.option === 'h',
    audits: effects.audit ?? 0,
    writes: effects.write ?? 0,
    questions,
    arrived: instances.length,
    hasMoved: new Set(instances).size > 1 || hasKill(conversation),
    isGood: text !== undefined && !end?.result?.isError && text !== 'Cancelled.',
    isError: end?.result?.isError === true,
    isTwice: messages.some(({ again }) => again),
    isAltered: messages.some(
      ({ altered, message }) => altered && 'requestState' in objectIn(message, 'params'),
    ),
    isUnasked: messages[1]?.altered === true,
    isRejected: eventsOf('state', events).some(({ phase }) => phase === 'rejected'),
    isTampered: said !== undefined && text !== undefined && !text.includes(said),
    outcome: outcomeOfDeploy(conversation),
  };
}

const hasKill = ({ events }: Conversation) => eventsOf('kill', events).length > 0;

export const LESSONS: readonly Lesson[] = [
  {
    id: 'twice',
    title: 'The handler runs again',
    idea: 'A modern client retries the call with the answer, so B’s handler starts from the top once more. H’s handler waits, and goes on where it stood.',
    task: 'Make B write its audit entry twice in one call, and H once.',
    hint: 'Call both sides and answer both. Then look at the tinted lines.',
    setUps: [setUp('b', { instances: 'one' }), setUp('h', { instances: 'one' })],
    marks: [
      ['two', 'B wrote twice', ({ option, audits }) => option === 'b' && audits > 1],
      ['once', 'H wrote once', ({ isOfH, audits, isGood }) => isOfH && audits === 1 && isGood],
    ],
  },
  {
    id: 'lose',
    title: 'What waits in memory can be lost',
    idea: 'H parks its handler in the instance that asked. A retry that reaches another instance, or the same one after a crash, finds nothing.',
    task: 'Lose H’s call. Then find two ways to keep a call.',
    hint: 'Two instances take turns. A router can be told where to send the retry; and not every shape waits in memory.',
    setUps: [setUp('h'), setUp('h')],
    marks: [
      ['lost', 'H’s call was lost', ({ isOfH, hasMoved, isError }) => isOfH && hasMoved && isError],
      [
        'routed',
        'kept: the retry went to the instance that asked',
        ({ isOfH, instances, arrived, hasMoved, isGood }) =>
          isOfH && instances === 'two' && arrived > 1 && !hasMoved && isGood,
      ],
      [
        'carried',
        'kept: a shape whose state travels went on elsewhere',
        ({ isOfH, arrived, hasMoved, isGood }) => !isOfH && arrived > 1 && hasMoved && isGood,
      ],
    ],
  },
  {
    id: 'approval',
    title: 'One approval, used twice',
    idea: 'A network may deliver a retry twice, and an honest seal does not stop that: the state was good, and it is good again.',
    task: 'Have one approval write twice. Then stop it.',
    hint: 'While the question is open, have the next request delivered twice. Then switch single use on, and do the same.',
    setUps: [setUp('f', { tool: 'work-item' }), setUp('f', { tool: 'work-item' })],
    marks: [
      ['two', 'one approval wrote twice', ({ isTwice, writes }) => isTwice && writes > 1],
      [
        'one',
        'with single use it wrote once',
        ({ singleUse, isTwice, writes }) => singleUse && isTwice && writes === 1,
      ],
    ],
  },
  {
    id: 'unasked',
    title: 'An answer that nobody asked for',
    idea: 'The client brings the answers. A handler that reads them without knowing that it asked takes what it is given.',
    task: 'Have an item resolved without its user being asked. Then send the same to a shape that is protected.',
    hint: 'Before the call, add an answer that nobody asked for to the next request.',
    setUps: [setUp('e-bare', { tool: 'work-item' }), setUp('e', { tool: 'work-item' })],
    marks: [
      [
        'taken',
        'written, and nobody was asked',
        ({ isUnasked, writes, questions }) => isUnasked && writes > 0 && questions === 0,
      ],
      [
        'dropped',
        'dropped: the user was asked all the same',
        ({ isUnasked, questions }) => isUnasked && questions > 0,
      ],
    ],
  },
  {
    id: 'change',
    title: 'State that somebody else can write',
    idea: 'State travels through the client. E bare writes down what the user answered, and reads it back as if nobody had touched it.',
    task: 'Change what the user answered, in the state. Then try the same on a sealed one, and find the true reason of the refusal.',
    hint: 'Answer “Duplicate” first. While the second question is open, open the tab State and write “Fixed” instead.',
    setUps: [setUp('e-bare', { tool: 'work-item' }), setUp('e', { tool: 'work-item' })],
    marks: [
      [
        'believed',
        'the changed state was believed',
        ({ isAltered, writes, isGood, isTampered }) => isAltered && writes > 0 && isGood && isTampered,
      ],
      ['refused', 'the sealed one was refused', ({ isAltered, isRejected }) => isAltered && isRejected],
    ],
  },
  {
    id: 'deploy',
    title: 'A deploy between two rounds',
    idea: 'Version 1 sealed the state; version 2 opens it. A question may have been removed, renamed or reworded meanwhile.',
    task: 'Deploy a version 2 while a question is open. Find one that the call finishes on, one that asks again, and one that is refused.',
    hint: 'Call G, deploy a version that reworded the question, and answer. Then do the same to J, but answer the size on version 1 and deploy while the colour is asked. Which change leaves a question and its words as they are?',
    setUps: [
      setUp('g', { tool: 'order', instances: 'one' }),
      setUp('j', { tool: 'order', instances: 'one' }),
    ],
    marks: [
      [
        'finished',
        'one call finished on version 2',
        ({ outcome, isGood }) => outcome === 'finishes' && isGood,
      ],
      [
        'again',
        'one asked again what had been answered',
        ({ outcome, isGood }) => outcome === 'asks again' && isGood,
      ],
      ['refused', 'one was refused, and told why', ({ outcome }) => outcome === 'refuses'],
    ],
  },
];

function outcomeOfDeploy(conversation: Conversation): DeployOutcome | undefined {
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
  (questions: readonly Question[]) =>
  ({ id, reply }: { readonly id: number; readonly reply: Reply }): boolean => {
    if (reply === 'silence' || reply.action !== 'accept') return false;
    const fields = objectIn(questions.find((question) => question.id === id)?.schema ?? {}, 'properties');
    return Object.entries(reply.content ?? {}).every(([name, value]) => {
      const { enum: choices } = objectIn(fields, name);
      return Array.isArray(choices) && choices.includes(value);
    });
  };
