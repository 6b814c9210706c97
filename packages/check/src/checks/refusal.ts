/** A user who declines, or never answers properly. */
import {
  abstain,
  advise,
  cite,
  defineCheck,
  type Finding,
  fail,
  notApplicable,
  pass,
  warn,
} from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import { isElicitation, isForm, isOptional } from '../observations/forms.ts';
import { lacking } from '../run/needs.ts';
import { requireAnswer, type Session } from '../session/session.ts';
import { type Asked, comparable, type ReplyOutcome } from '../wire/outcome.ts';

const ACTIONS = cite(
  'client/elicitation, error handling and response actions',
  'Servers … MUST handle cases where the user declines or cancels the elicitation … Decline: User explicitly ' +
    'declined the request … Cancel: User dismissed without making an explicit choice',
);

export const UNANSWERED = cite(
  'basic/patterns/mrtr, server requirements 8',
  'Servers MUST NOT assume that clients will fulfill the inputRequests or retry the original request.',
);

const NOTHING = 'the operation elicits nothing from its user';

type Action = 'decline' | 'cancel';

/** Refuses every elicitation, or those of `only`. Sampling and roots get honest answers: they have no refusal. */
const refusing = (session: Session, action: Action, only?: readonly string[]) =>
  session.mapAnswers((honest, request, key) => {
    const isRefused = isElicitation(request) && (only?.includes(key) ?? true);
    return isRefused ? { action } : honest;
  });

interface Refusal {
  readonly action: Action;
  /** The only question that is refused. Default: all. */
  readonly key?: string | undefined;
}

function refusalsOf(requests: Asked): readonly Refusal[] {
  const keys = Object.keys(requests).filter((key) => isElicitation(requests[key]));
  if (keys.length === 0) return [];
  const alone = keys.length > 1 ? keys.map((key) => ({ action: 'decline' as const, key })) : [];
  return [{ action: 'decline' }, { action: 'cancel' }, ...alone];
}

/**
 * Answers the questions that follow a refusal: no to the refused ones, and the honest answer to others. Undefined if the
 * server asks a question that no honest call got, because a yes to that may be a consent of its own.
 */
function answerAfterRefusal(
  { facts }: CheckContext,
  session: Session,
  { round, action, key }: Refusal & { readonly round: number },
) {
  if (session.last?.kind !== 'asked') return undefined;
  const outcome = session.last;
  const at = facts.rounds.findIndex((_, each) => facts.asksLike(each, outcome) === true);
  const requests = facts.requestsIn(round);
  const keys = key === undefined ? Object.keys(requests) : [key];
  // The server learns the result of a page from the page, not from the answer.
  if (!keys.some((one) => isForm(requests[one]))) return undefined;
  const again = keys.map((one) => facts.keyNow(round, one, session.asked));
  const isKnown = (one: string) => facts.questions.some(({ key }) => key === one);
  if (at < 0 && !Object.keys(session.asked).every(isKnown)) return undefined;
  // If every round uses the same key, the text shows whether this is the refused question.
  return at >= 0 && at !== round ? session.answers() : refusing(session, action, again);
}

/** Refuses, then answers later questions honestly: a server may forget the refusal only rounds later. */
async function refuseAndFinish(context: CheckContext, round: number, { action, key }: Refusal) {
  const { effects, facts } = context;
  const session = await context.untilRound(round);
  let before = await effects.read();
  const now = key === undefined ? undefined : [facts.keyNow(round, key, session.asked)];
  const outcome = await session.retry({ inputResponses: refusing(session, action, now) });
  session.decisive = session.lastTurn;
  const what = `${action} of ${key === undefined ? `question ${round + 1}` : `'${key}' alone`}`;
  // effect.before-answer reports the effect of a question.
  const hasEffect = async () =>
    (await effects.since(before, session)) && !(effects.asking && session.last?.kind === 'asked');
  let effect = await hasEffect();
  for (let more = facts.rounds.length + 2; !effect && more > 0; more--) {
    const inputResponses = answerAfterRefusal(context, session, { round, action, key });
    if (inputResponses === undefined) break;
    if (effects.asking) before = effects.last;
    await session.retry({ inputResponses });
    effect = await hasEffect();
  }
  return { session, what, outcome, effect };
}

/** The words for a refusal that ends as an honest call does, where no probe shows whether it had the effect. */
export const endsTheSame = (what: string, end: ReplyOutcome) =>
  `${what} ended as an honest call does (${end}): it had the effect, or its text says so. A probe of the effect tells which.`;

function describeEffect(what: string, outcome: ReplyOutcome, end: ReplyOutcome = outcome) {
  if (end === outcome) return `After a ${what} the probe changed: ${outcome}.`;
  return `After a ${what} the server ${outcome}, and the probe changed when that was answered: ${end}.`;
}

async function refuseAlways(context: CheckContext, action: Action) {
  let ended: ReplyOutcome | undefined;
  for (const [first] of context.facts.rounds.entries()) {
    const session = await context.untilRound(first);
    const seen = new Set<string>();
    for (let round = 0; session.last?.kind === 'asked' && round < MAX_REFUSALS; round++) {
      const question = comparable(session.last);
      if (seen.has(question))
        return advise(
          `After a ${action} the same question was asked again: ${`${session.last}`.replace(/^asked /, '')}.`,
          session,
        );
      seen.add(question);
      await session.retry({ inputResponses: refusing(session, action) });
    }
    ended = session.last as ReplyOutcome;
    requireAnswer(ended);
    if (ended.kind === 'asked')
      return advise(`After ${MAX_REFUSALS} refusals (${action}) the server still asks.`, session);
  }
  return ended ? pass(ended) : abstain('nothing was asked');
}

const MAX_REFUSALS = 10;

/** Finds a loop when a question repeats word for word. */
const declineEnds = defineCheck('refusal.decline-ends', 'A', {
  expected: 'A decline ends the call: the same question is not asked again.',
  clause: ACTIONS,
  remedy:
    'Tell a decline from a missing answer: a handler that only looks for content asks a user who said no until the client ' +
    'gives up. In TypeScript: inputResponse() of the SDK or readAnswer() of @mrtr/core tells which it was, and ' +
    'acceptedContent() does not.',
  needs: ['form'],
  calls: (rounds) => rounds * (rounds + 1),
  run: (context) => refuseAlways(context, 'decline'),
});

export const PATIENCE = 25;

/** The notation of the drawn conversation. */
export const EMPTY = '`accept {}`';
export const NOTHING_FILLED_IN = { action: 'accept', content: {} };

/** Makes one call whose every form comes back empty, for all checks of it. */
export const answerEmpty = (context: CheckContext) =>
  context.once('empty answers', async () => {
    const session = context.session();
    const outcome = await session.finish(PATIENCE, () => ({
      inputResponses: session.mapAnswers(() => NOTHING_FILLED_IN),
    }));
    requireAnswer(outcome);
    return { session, outcome };
  });

export const REFUSAL = [
  /** Refuses in every round, and each of several questions alone: servers tend to forget the last refusal. */
  defineCheck('refusal.no-effect', 'M', {
    expected: 'A call has no effect after a decline or a cancel.',
    clause: ACTIONS,
    remedy:
      'Write only after an accept: test for `action === "accept"`, and treat everything else as no. If a question is ' +
      'optional, so that a refusal means its default, put this check into the baseline with that reason.',
    calls: (rounds) => 4 * rounds * (rounds + 1),
    run: async (context) => {
      const unseen = lacking(['effects'], context);
      if (unseen?.verdict === 'not-applicable') return unseen;
      const ends: string[] = [];
      let byDefault: Finding | undefined;
      for (const [round, { requests }] of context.facts.rounds.entries()) {
        for (const refusal of refusalsOf(requests)) {
          const { session, what, outcome, effect } = await refuseAndFinish(context, round, refusal);
          requireAnswer(outcome, what);
          ends.push(`${refusal.action}: ${outcome}`);
          const { key } = refusal;
          const refusedOnes = key === undefined ? Object.values(requests) : [requests[key]];
          const mayMeanDefault = refusedOnes.every(isOptional);
          const seen = describeEffect(what, outcome, session.last);
          if (effect && !mayMeanDefault) return fail(seen, session);
          if (effect)
            byDefault ??= advise(
              `${seen} Nothing in that form is required, so this may be its default.`,
              session,
            );
          else if (unseen && !mayMeanDefault && context.endsAsHonest(session.last))
            return warn(endsTheSame(`A ${what}`, session.last ?? outcome), session);
        }
      }
      const found = byDefault ?? unseen;
      if (found) return found;
      return ends.length === 0 ? notApplicable(NOTHING) : pass(ends.slice(0, 2).join('; '));
    },
  }),
  declineEnds,
  defineCheck('refusal.cancel-ends', 'A', {
    ...declineEnds,
    expected: 'A cancel ends the call, or at least does not loop: the same question is not asked again.',
    run: (context) => refuseAlways(context, 'cancel'),
  }),
  /** Sends empty content in every round, as a broken client does. */
  defineCheck('refusal.rounds-bounded', 'A', {
    expected: `A user who never answers properly is not asked for ever: the call ends within ${PATIENCE} rounds.`,
    clause: UNANSWERED,
    remedy:
      'Count the prompts of a call, and end it when there were too many. In TypeScript: `limits.rounds` of @mrtr/core.',
    needs: ['form'],
    calls: () => PATIENCE + 1,
    run: async (context) => {
      const { session, outcome } = await answerEmpty(context);
      const rounds = session.turns.length - 1;
      if (outcome.kind === 'asked')
        return advise(`After ${rounds} rounds, each answered with ${EMPTY}, the server still asks.`, session);
      return pass(`ended after ${rounds} round${rounds === 1 ? '' : 's'} of ${EMPTY}: ${outcome}`);
    },
  }),
];
