/** A user who says no, or never answers properly. */

import { isForm, isOptional } from '../run/forms.ts';
import { type Asked, comparable, inWords, type Outcome } from '../talk/outcome.ts';
import type { Talk } from '../talk/talk.ts';
import type { JsonObject } from '../wire/json.ts';
import { broken, type Check, type Finding, held, notApplicable, undecided } from './check.ts';
import type { CheckContext } from './context.ts';

const ACTIONS = {
  at: '2026-07-28, client/elicitation, error handling and response actions',
  words:
    'Servers … MUST handle cases where the user declines or cancels the elicitation. Decline: User explicitly ' +
    'declined the request. Cancel: User dismissed without making an explicit choice.',
};

const NOTHING = 'the operation elicits nothing from its user';

type Action = 'decline' | 'cancel';

/**
 * The same refusal of every question, or of those with these keys; sampling and roots cannot be refused so, and get
 * their honest answer.
 */
function refusing(talk: Talk, action: Action, only?: readonly string[]): JsonObject {
  const answers = talk.answers();
  return Object.fromEntries(
    Object.entries(talk.asked).map(([key, { method }]) => [
      key,
      method === 'elicitation/create' && (only?.includes(key) ?? true) ? { action } : answers[key],
    ]),
  );
}

/** Every way to refuse the questions of a round: all of them, and where there are several, each alone. */
function refusalsOf(requests: Asked): readonly { readonly action: Action; readonly key?: string }[] {
  const keys = Object.keys(requests).filter((key) => requests[key]?.method === 'elicitation/create');
  // Sampling and roots have no refusal of this kind.
  if (keys.length === 0) return [];
  const alone = keys.length > 1 ? keys.map((key) => ({ action: 'decline' as const, key })) : [];
  return [{ action: 'decline' }, { action: 'cancel' }, ...alone];
}

/** A refusal of a round, or of one of its questions: what came of it, and of the call that went on after it. */
interface Refused {
  readonly talk: Talk;
  /** The refusal, as it stands in a sentence. */
  readonly what: string;
  /** What came of the refusal itself. */
  readonly outcome: Outcome;
  readonly effect: boolean | undefined;
}

/**
 * What a user answers who refused these keys, and is asked again: no to the same question, and the honest answer to each
 * other one. Undefined where the server asks what no honest call was asked: to say yes to that may be a yes of its own.
 */
function goingOn(
  { facts }: CheckContext,
  talk: Talk,
  { round, action, key }: { round: number; action: Action; key: string | undefined },
): JsonObject | undefined {
  if (talk.last?.kind !== 'asked') return undefined;
  const outcome = talk.last;
  const at = facts.rounds.findIndex((_, each) => facts.asksLike(each, outcome) === true);
  const { requests = {} } = facts.rounds[round] ?? {};
  const keys = key === undefined ? Object.keys(requests) : [key];
  // What became of a page at a URL the server learns there, and not from the answer.
  if (!keys.some((one) => isForm(requests[one]))) return undefined;
  const again = keys.map((one) => facts.keyNow(round, one, talk.asked));
  const known = facts.rounds.flatMap(({ requests }) => Object.keys(requests));
  if (at < 0 && !Object.keys(talk.asked).every((one) => known.includes(one))) return undefined;
  // Every round may ask under the same key: then its words tell it from the one that was refused.
  return at >= 0 && at !== round ? talk.answers() : refusing(talk, action, again);
}

/** Refuses, and where the server asks on, answers honestly: a refusal may be forgotten only rounds later. */
async function refused(
  context: CheckContext,
  round: number,
  { action, key }: { readonly action: Action; readonly key?: string },
): Promise<Refused> {
  const { effects, facts } = context;
  const talk = await context.untilRound(round);
  let before = await effects.read();
  const now = key === undefined ? undefined : [facts.keyNow(round, key, talk.asked)];
  const outcome = await talk.retry({ inputResponses: refusing(talk, action, now) });
  talk.decisive = talk.turns.at(-1);
  const what = `${action} of ${key === undefined ? `question ${round + 1}` : `'${key}' alone`}`;
  // The effect of a question is what effect.before-answer finds.
  const seen = async () =>
    (await effects.since(before, talk)) && !(effects.asking && talk.last?.kind === 'asked');
  let effect = await seen();
  for (let more = facts.rounds.length + 2; !effect && more > 0; more--) {
    const inputResponses = goingOn(context, talk, { round, action, key });
    if (inputResponses === undefined) break;
    if (effects.asking) before = await effects.read();
    await talk.retry({ inputResponses });
    effect = await seen();
  }
  return { talk, what, outcome, effect };
}

/** In every round, and of several questions each alone: the last refusal is the one that is forgotten. */
export const noEffect: Check = {
  id: 'refusal.no-effect',
  family: 'spec',
  level: 'M*',
  expected: 'After a decline or a cancel, nothing happened.',
  clause: ACTIONS,
  remedy:
    'Write only after an accept: test for `action === "accept"`, and treat everything else as no. Where a question is ' +
    'optional, so that a refusal means its default, put this check into the baseline with that reason.',
  needs: ['question', 'effects'],
  calls: (rounds) => 4 * rounds * (rounds + 1),
  run: async (context): Promise<Finding> => {
    const ends: string[] = [];
    let byDefault: Finding | undefined;
    for (const [round, { requests }] of context.facts.rounds.entries()) {
      for (const refusal of refusalsOf(requests)) {
        const { talk, what, outcome, effect } = await refused(context, round, refusal);
        if (outcome.kind === 'failed') return undecided(`${what} got no answer: ${inWords(outcome)}`);
        ends.push(`${refusal.action}: ${inWords(outcome)}`);
        if (!effect) continue;
        const seen = seenAfter(what, outcome, talk.last);
        const { key } = refusal;
        const refusedOnes = key === undefined ? Object.values(requests) : [requests[key]];
        if (!refusedOnes.every(isOptional)) return broken(seen, talk, { matters: true });
        byDefault ??= broken(
          `${seen} Nothing of that form has to be filled in, so this may be its default.`,
          talk,
        );
      }
    }
    if (byDefault) return byDefault;
    return ends.length === 0 ? notApplicable(NOTHING) : held(ends.slice(0, 2).join('; '));
  },
};

function seenAfter(what: string, outcome: Outcome, end: Outcome = outcome): string {
  if (end === outcome) return `After a ${what} the probe changed: ${inWords(outcome)}.`;
  return `After a ${what} the server ${inWords(outcome)}, and the probe changed when that was answered: ${inWords(end)}.`;
}

/** A refusal of each question in turn, repeated whenever the server asks: the same question may not come again. */
async function refusesAlways(context: CheckContext, action: Action): Promise<Finding> {
  let ended: Outcome | undefined;
  for (const [first] of context.facts.rounds.entries()) {
    const talk = await context.untilRound(first);
    const seen = new Set<string>();
    for (let round = 0; talk.last?.kind === 'asked' && round < MOST; round++) {
      const question = comparable(talk.last);
      if (seen.has(question))
        return broken(
          `After a ${action} the same question was asked again: ${inWords(talk.last).replace(/^asked /, '')}.`,
          talk,
        );
      seen.add(question);
      await talk.retry({ inputResponses: refusing(talk, action) });
    }
    ended = talk.last as Outcome;
    if (ended.kind === 'failed') return undecided(inWords(ended));
    if (ended.kind === 'asked')
      return broken(`After ${MOST} refusals (${action}) the server still asks.`, talk);
  }
  return ended ? held(inWords(ended)) : undecided('nothing was asked');
}

const MOST = 10;

/** A loop shows when a question comes a second time in the same words. */
export const declineEnds: Check = {
  id: 'refusal.decline-ends',
  family: 'safety',
  level: 'A',
  expected: 'A decline ends the call: the same question is not asked again.',
  clause: ACTIONS,
  remedy:
    "Tell a decline from a missing answer: the SDK's acceptedContent() returns undefined for both, and a handler that " +
    'only tests for that asks a user who said no until the client gives up. Its inputResponse() says which it was, and so ' +
    'does readAnswer() of @mrtr/core.',
  needs: ['question', 'form'],
  calls: (rounds) => rounds * (rounds + 1),
  run: (context) => refusesAlways(context, 'decline'),
};

/** The same for a dismissal, which says neither yes nor no. */
export const cancelEnds: Check = {
  ...declineEnds,
  id: 'refusal.cancel-ends',
  expected: 'A cancel ends the call, or at least does not loop: the same question is not asked again.',
  run: (context) => refusesAlways(context, 'cancel'),
};

/** Rounds that a user who never answers properly is given. */
const PATIENCE = 25;

/** Empty content in each round: what a client sends that is broken, and not a user. */
export const roundsBounded: Check = {
  id: 'refusal.rounds-bounded',
  family: 'safety',
  level: 'A',
  expected: `A user who never answers properly is not asked for ever: the call ends within ${PATIENCE} rounds.`,
  clause: {
    at: '2026-07-28, basic/patterns/mrtr, server requirements 8',
    words:
      'Servers MUST NOT assume that clients will fulfill the inputRequests or retry the original request.',
  },
  remedy:
    'Count the rounds in the sealed state, and end the call when there were too many: `maxRounds` in @mrtr/core.',
  needs: ['question', 'form'],
  calls: () => PATIENCE + 1,
  run: async (context): Promise<Finding> => {
    const talk = context.talk();
    let outcome: Outcome = await talk.first();
    let rounds = 0;
    for (; outcome.kind === 'asked' && rounds < PATIENCE; rounds++)
      outcome = await talk.retry({ inputResponses: emptyAnswers(talk) });
    if (outcome.kind === 'failed') return undecided(inWords(outcome));
    if (outcome.kind === 'asked')
      return broken(`After ${rounds} rounds, each answered with ${EMPTY}, the server still asks.`, talk);
    return held(`ended after ${rounds} round${rounds === 1 ? '' : 's'} of ${EMPTY}: ${inWords(outcome)}`);
  },
};

/** As the drawing of the conversation shows it. */
const EMPTY = '`accept {}`';

const emptyAnswers = (talk: Talk): JsonObject =>
  Object.fromEntries(Object.keys(talk.asked).map((key) => [key, { action: 'accept', content: {} }]));
