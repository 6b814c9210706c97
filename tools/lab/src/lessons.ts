/**
 * The lessons as data: one idea each, and the choices at its fork. Every choice is played and recorded, so that a page
 * without a server can show it. The page imports this too, so do not import Node modules.
 */
import { type Action, answer, CALL, DECLINE, deploy, fault, ITEM, kill, ONE } from './script.ts';
import { type SetUp, type SideName, setUp, UNASKED } from './set-up.ts';

/** A side of a lesson: a shape of the lab, or the tool of `pnpm demo approve`, which asks for a yes. */
export type LessonSide = SetUp | { readonly approval: 'form' | 'page' };

export interface Choice {
  readonly id: string;
  /** The button. */
  readonly words: string;
  readonly left: readonly Action[];
  readonly right: readonly Action[];
}

export interface Lesson {
  readonly id: string;
  readonly title: string;
  readonly idea: string;
  /** The visitor's decision at the fork. */
  readonly question: string;
  readonly sides: readonly [LessonSide, LessonSide];
  /** A caption for each side. */
  readonly captions: readonly [string, string];
  /** The number of questions shown before the fork; 0 for a fork before the call. */
  readonly fork: number;
  readonly choices: readonly Choice[];
  /** The task to solve on the live page. */
  readonly task: string;
  readonly hint: string;
}

/** The name of a recording, such as `lesson-twice.metric-left`. */
export const branchId = (lesson: string, choice: string, side: SideName) =>
  `lesson-${lesson}.${choice}-${side}`;

const both = (id: string, words: string, ...actions: readonly Action[]): Choice => ({
  id,
  words,
  left: actions,
  right: actions,
});

/** The lesson of the first page. */
export const FRONT = 'twice';

export const LESSONS: readonly Lesson[] = [
  {
    id: FRONT,
    title: 'The handler runs again',
    idea: 'The client makes the call again with the answer, so B’s handler starts from its top once more. H’s handler waits, and goes on below its question.',
    question: 'Which units?',
    sides: [setUp('b', ONE), setUp('h', ONE)],
    captions: ['the handler starts again with each answer', 'the handler waits in memory for the answer'],
    fork: 1,
    choices: [
      both('metric', 'metric', CALL, answer('metric')),
      both('imperial', 'imperial', CALL, answer('imperial')),
      both('decline', 'Decline', CALL, answer(DECLINE)),
    ],
    task: 'Make B write its audit entry twice in one call, and H once.',
    hint: 'Make both calls, and answer both.',
  },
  {
    id: 'lose',
    title: 'What waits in memory can be lost',
    idea: 'H’s handler waits in the memory of the instance that asked. F’s state travels with the client, so any instance can continue.',
    question: 'The question is open, and two instances could take the answer. Which one gets it?',
    sides: [setUp('h'), setUp('f')],
    captions: ['the handler waits in memory', 'the state travels with the client'],
    fork: 1,
    choices: [
      both('other', 'The other one', CALL, fault({ to: 'i2' }), answer('metric')),
      both('same', 'The one that asked', CALL, fault({ to: 'i1' }), answer('metric')),
      both('kill', 'The other one: the one that asked is killed', CALL, kill('i1'), answer('metric')),
    ],
    task: 'Lose H’s call. Then find two ways to keep a call.',
    hint: 'Two instances take turns. A router can send the retry to the instance that asked; and not every shape waits in memory.',
  },
  {
    id: 'approval',
    title: 'One approval, used twice',
    idea: 'A network may deliver a retry twice. A good seal does not stop that: the state was valid, and it is valid again. Single use does. On the left it is off, on the right it is on.',
    question: 'The user is about to answer “Fixed”. What does the network do with the answer?',
    sides: [setUp('f', ITEM), setUp('f', { ...ITEM, singleUse: true })],
    captions: ['single use is off', 'single use is on'],
    fork: 1,
    choices: [
      both('twice', 'Deliver it twice', CALL, fault({ deliver: 'twice' }), answer('Fixed')),
      both('once', 'Deliver it once', CALL, answer('Fixed')),
    ],
    task: 'Have one approval write twice. Then stop it.',
    hint: 'While the question is open, have the next request delivered twice. Then do the same on the right, where single use is on.',
  },
  {
    id: 'unasked',
    title: 'An answer that nobody asked for',
    idea: 'Answers come with a request, and somebody may put one in. A handler that does not know which questions it asked believes any answer. Our boundary is a function around the server that seals which questions were asked.',
    question: 'Nothing has happened yet. What arrives at the server?',
    sides: [setUp('e-bare', ITEM), setUp('e', ITEM)],
    captions: ['on the SDK alone', 'with our boundary around it'],
    fork: 0,
    choices: [
      both(
        'forged',
        'The call, with an answer nobody asked for',
        fault({ unasked: UNASKED['work-item'] }),
        CALL,
        answer("Won't fix"),
      ),
      both('plain', 'The call alone', CALL, answer("Won't fix")),
    ],
    task: 'Have an item resolved without its user being asked. Then send the same to a shape that is protected.',
    hint: 'Before the call, add an answer that nobody asked for to the next request.',
  },
  {
    id: 'change',
    title: 'State that somebody else can write',
    idea: 'State travels through the client. On the SDK alone, E writes the user’s answer into it and believes what comes back. Our boundary seals it.',
    question: 'The user said “Duplicate”, and is asked which item. What happens to the state on its way?',
    sides: [setUp('e-bare', ITEM), setUp('e', ITEM)],
    captions: ['on the SDK alone: plain state', 'with our boundary: sealed state'],
    fork: 2,
    choices: [
      {
        id: 'changed',
        words: 'Somebody changes it',
        left: [CALL, answer('Duplicate'), fault({}, ['Duplicate', 'Fixed']), answer('4301')],
        right: [CALL, answer('Duplicate'), fault({}, 'flip'), answer('4301')],
      },
      both('left', 'Nothing', CALL, answer('Duplicate'), answer('4301')),
    ],
    task: 'Change the user’s answer in the state. Then try the same on a sealed one, and find the true reason of the refusal.',
    hint: 'Answer “Duplicate” first. While the second question is open, open the tab State and write “Fixed” instead.',
  },
  {
    id: 'deploy',
    title: 'A deploy between two rounds',
    idea: 'Version 1 sealed the state; version 2 opens it. The size has been answered, and the colour is asked. G finds its answers by key; J replays its log, and stops where the log does not fit.',
    question: 'You deploy a version 2 now. What did it do to the question for the size?',
    sides: [setUp('g', { tool: 'order', ...ONE }), setUp('j', { tool: 'order', ...ONE })],
    captions: ['finds answers by their keys', 'replays what was answered'],
    fork: 2,
    choices: [
      both('reworded', 'Reworded it', CALL, answer('M'), deploy('reworded'), answer('red'), answer('L')),
      both('removed', 'Removed it', CALL, answer('M'), deploy('removed'), answer('red')),
      both('nothing', 'Nothing', CALL, answer('M'), deploy('nothing'), answer('red')),
    ],
    task: 'Deploy a version 2 while a question is open. Find one that the call finishes on, one that asks again, and one that is rejected.',
    hint: 'Call G, deploy a version that reworded the question, and answer. Then do the same to J, but answer the size on version 1 and deploy while the colour is asked. Which change leaves a question and its words as they are?',
  },
  {
    id: 'consent',
    title: 'A yes that nobody gave',
    idea: 'A client may answer by itself. In a form, a program’s yes counts like a person’s. On a page of the server’s own, a person who is signed in has to press a button.',
    question: 'The item is about to be changed. Who is at the client?',
    sides: [{ approval: 'form' }, { approval: 'page' }],
    captions: ['shown by the client', 'on a page that the server shows'],
    fork: 2,
    choices: [both('person', 'A person'), both('agent', 'An agent that says yes to everything')],
    task: 'Let an agent approve. Then stop it.',
    hint: '`pnpm demo approve` plays both, and docs/consent.md says what each yes proves.',
  },
];
