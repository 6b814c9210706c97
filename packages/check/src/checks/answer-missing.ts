/** Retries without any answer, and with only one of two. */
import { type Attempted, findAccepted } from '../judging/attack.ts';
import { defineCheck, fail, MRTR, notApplicable, pass } from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import { isOptional } from '../observations/forms.ts';
import type { Session } from '../session/session.ts';
import { requireAnswer } from '../session/session.ts';
import type { JsonObject } from '../wire/json.ts';
import { comparable, describeOutcome } from '../wire/outcome.ts';

export const ASK_AGAIN = {
  at: `${MRTR}, error handling`,
  words:
    'If the client fails to send all the information requested …, and the missing information is necessary …, the ' +
    'server SHOULD respond with a new InputRequiredResult requesting the missing information again.',
};

export const SAME_WITHOUT = 'a retry without any answer ends the same, which answer.missing finds';

/** Whether a retry without any answer has the accepted outcome too. Then the answers did not count. */
export async function sameWithoutAnswers(
  context: CheckContext,
  round: number,
  attempts: readonly Attempted[],
) {
  const [accepted] = findAccepted(attempts);
  if (accepted === undefined) return false;
  const session = await context.untilRound(round);
  const before = await context.effects.read();
  const outcome = await session.retry({ inputResponses: undefined });
  const end = comparable(context.judge(round, outcome) === 'same' ? await session.finish() : outcome);
  const attacked = comparable(accepted.end);
  const { final } = context.facts;
  // Only the retry with answers had an effect, so they counted.
  if (accepted.effect === true && (await context.effects.since(before)) === false) return false;
  return end === attacked || (final.like(end) === true && final.like(attacked) === true);
}

/** An error would discard the user's other answers. */
const missing = defineCheck('answer.missing', 'S', {
  expected: 'A retry without any answer is asked again, and the call can still be finished.',
  clause: ASK_AGAIN,
  remedy:
    'If an answer is missing, return the same questions again, not an error or a default. If a question is optional, so ' +
    'that a missing answer means its default, put this check into the baseline with that reason.',
  calls: (rounds) => 2 * (rounds + 2),
  run: async (context) => {
    const asking = context.facts.rounds.flatMap(({ requests }, round) =>
      Object.values(requests).every(isOptional) ? [] : [round],
    );
    // Try the first round and the last, which most often guards an effect.
    const [first, ...later] = asking;
    if (first === undefined) return notApplicable('every question of the operation is optional');
    const finding = await retryWithoutAnswers(context, first);
    const last = later.at(-1);
    return finding.kind === 'pass' && last !== undefined ? retryWithoutAnswers(context, last) : finding;
  },
});

async function retryWithoutAnswers(context: CheckContext, round: number) {
  const session = await context.untilRound(round);
  const what = `The retry without answers${context.lastRound > 0 ? `, in round ${round + 1},` : ''}`;
  return retryWithTooFew(context, session, undefined, what);
}

/** Tries both orders: a server may keep the first answer and lose the second. */
const partial = defineCheck('answer.partial', 'S', {
  expected: 'Two questions can be answered one after the other, in either order.',
  clause: ASK_AGAIN,
  remedy:
    'Keep the received answers in the sealed state, and ask only for the missing ones: the shapes once, tool-builder, ' +
    'resolve and journal do.',
  needs: ['two-questions'],
  calls: (rounds) => 2 * (rounds + 4),
  run: async (context) => {
    const round = context.facts.rounds.findIndex(({ requests }) => Object.keys(requests).length > 1);
    let found = notApplicable('of the questions that it asks at once, only one is required');
    for (const order of [0, 1]) {
      const session = await context.untilRound(round);
      const key = Object.keys(session.asked)[order] ?? '';
      const { [key]: _, ...others } = session.asked;
      // The call may proceed without optional answers.
      if (Object.values(others).every(isOptional)) continue;
      const alone = { [key]: session.answers()[key] };
      found = await retryWithTooFew(context, session, alone, `The retry with the answer to '${key}' alone`);
      if (found.kind !== 'pass') return found;
    }
    return found;
  },
});

/** Retries with too few answers: the server has to ask for the rest, and the call has to finish. */
async function retryWithTooFew(
  context: CheckContext,
  session: Session,
  inputResponses: JsonObject | undefined,
  what: string,
) {
  const { outcome, effect } = await context.measure(session, () => session.retry({ inputResponses }));
  if (effect) return fail(`${what} had an effect: ${describeOutcome(outcome)}.`, session, { matters: true });
  requireAnswer(outcome, what);
  if (outcome.kind !== 'asked')
    return fail(`${what} was not asked again: ${describeOutcome(outcome)}.`, session);
  const end = await session.finish(context.facts.rounds.length + 2);
  if (end.kind === 'completed') return pass('asked again, and then completed', session);
  return fail(`${what} was asked again, but the call did not end: ${describeOutcome(end)}.`, session);
}

export const MISSING = [missing, partial];
