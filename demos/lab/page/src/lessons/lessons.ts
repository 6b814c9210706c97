/** Six lessons: one idea each, and a task that the page recognises as solved by what really happened. */
import type { Reply } from '@mrtr/harness';
import { eventsOf, objectIn, type Question, resultText, tally } from '@mrtr/harness/transcript';
import { outcomeOf } from '@mrtr/matrix/deploy/outcome';
import type { Outcome } from '@mrtr/option/deploys';
import type { Conversation, SetUp, SideState } from '../../../src/protocol.ts';

/** A part of a task: its id, its words, and whether the call that just ended on a side is it. */
export type Mark = readonly [
  id: string,
  words: string,
  isMet: (side: SideState, conversation: Conversation) => boolean,
];

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

const writes = (conversation: Conversation) => tally(conversation).effects.write ?? 0;
const audits = (conversation: Conversation) => tally(conversation).effects.audit ?? 0;
const messages = ({ events }: Conversation) => eventsOf('message', events);
const wasTwice = (conversation: Conversation) => messages(conversation).some(({ again }) => again);
const wasAltered = (conversation: Conversation) =>
  messages(conversation).some(
    ({ altered, message }) => altered && 'requestState' in objectIn(message, 'params'),
  );
const wasUnasked = (conversation: Conversation) => messages(conversation)[1]?.altered === true;
const isGood = ({ end }: Conversation) =>
  end?.result !== undefined && !end.result.isError && resultText(end.result) !== 'Cancelled.';

/** The instances that the rounds reached, in order. */
const instancesOf = (conversation: Conversation): readonly string[] =>
  messages(conversation).flatMap(({ from, to, message, lost }) =>
    from === 'client' && message.method === 'tools/call' && !lost && to !== undefined ? [to] : [],
  );
const isHeldInMemory = ({ setUp: { option } }: SideState) => option === 'h';
const hasKill = ({ events }: Conversation) => eventsOf('kill', events).length > 0;
const hasMoved = (conversation: Conversation) =>
  new Set(instancesOf(conversation)).size > 1 || hasKill(conversation);

export const LESSONS: readonly Lesson[] = [
  {
    id: 'twice',
    title: 'The handler runs again',
    idea: 'A modern client retries the call with the answer, so B’s handler starts from the top once more. H’s handler waits, and goes on where it stood.',
    task: 'Make B write its audit entry twice in one call, and H once.',
    hint: 'Call both sides and answer both. Then look at the tinted lines.',
    setUps: [setUp('b', { instances: 'one' }), setUp('h', { instances: 'one' })],
    marks: [
      [
        'two',
        'B wrote twice',
        ({ setUp: { option } }, conversation) => option === 'b' && audits(conversation) > 1,
      ],
      [
        'once',
        'H wrote once',
        (side, conversation) => isHeldInMemory(side) && audits(conversation) === 1 && isGood(conversation),
      ],
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
      [
        'lost',
        'H’s call was lost',
        (side, conversation) =>
          isHeldInMemory(side) && hasMoved(conversation) && conversation.end?.result?.isError === true,
      ],
      [
        'routed',
        'kept: the retry went to the instance that asked',
        (side, conversation) =>
          isHeldInMemory(side) &&
          side.setUp.instances === 'two' &&
          instancesOf(conversation).length > 1 &&
          !hasMoved(conversation) &&
          isGood(conversation),
      ],
      [
        'carried',
        'kept: a shape whose state travels went on elsewhere',
        (side, conversation) =>
          !isHeldInMemory(side) &&
          instancesOf(conversation).length > 1 &&
          hasMoved(conversation) &&
          isGood(conversation),
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
      [
        'two',
        'one approval wrote twice',
        (_side, conversation) => wasTwice(conversation) && writes(conversation) > 1,
      ],
      [
        'one',
        'with single use it wrote once',
        ({ setUp: { singleUse } }, conversation) =>
          singleUse && wasTwice(conversation) && writes(conversation) === 1,
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
        (_side, conversation) =>
          wasUnasked(conversation) && writes(conversation) > 0 && tally(conversation).questions === 0,
      ],
      [
        'dropped',
        'dropped: the user was asked all the same',
        (_side, conversation) => wasUnasked(conversation) && tally(conversation).questions > 0,
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
        (_side, conversation) =>
          wasAltered(conversation) &&
          writes(conversation) > 0 &&
          isGood(conversation) &&
          isTampered(conversation),
      ],
      [
        'refused',
        'the sealed one was refused',
        (_side, conversation) =>
          wasAltered(conversation) &&
          eventsOf('state', conversation.events).some(({ phase }) => phase === 'rejected'),
      ],
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
        (_side, conversation) => cameTo('finishes', conversation) && isGood(conversation),
      ],
      [
        'again',
        'one asked again what had been answered',
        (_side, conversation) => cameTo('asks again', conversation) && isGood(conversation),
      ],
      ['refused', 'one was refused, and told why', (_side, conversation) => cameTo('refuses', conversation)],
    ],
  },
];

/** Whether a deploy, and nothing else that was done to it, brought a call to this end. */
function cameTo(outcome: Outcome, conversation: Conversation): boolean {
  const { events, end } = conversation;
  const changes = eventsOf('restart', events).map(({ deployed }) => deployed);
  const isSpared =
    !hasKill(conversation) &&
    !messages(conversation).some(({ altered, again, lost }) => altered || again || lost) &&
    eventsOf('answer', events).every(fitsIts(eventsOf('question', events)));
  const isOther = changes.some((change) => change !== undefined && change !== 'nothing');
  return end !== undefined && isOther && isSpared && outcomeOf({ events, end }) === outcome;
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

/** Whether the end differs from what the user said first. */
function isTampered(conversation: Conversation): boolean {
  const first = eventsOf('answer', conversation.events)[0];
  if (!first || first.reply === 'silence') return false;
  const said = String(Object.values(first.reply.content ?? {})[0] ?? '');
  const result = conversation.end?.result;
  return result !== undefined && !resultText(result).includes(said);
}
