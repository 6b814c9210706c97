/** When effects happen, and how many. */
import { abstain, defineCheck, fail, notApplicable, pass } from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import { clip, type Reading } from '../observations/effects.ts';
import { MOST_ROUNDS, type Session } from '../session/session.ts';
import { describeOutcome } from '../wire/outcome.ts';

const REENTERED = {
  at: '2026-07-28, basic/patterns/mrtr, basic workflow',
  words:
    'the requests in each step are completely independent (so that a handler is entered once for every request, and ' +
    'whatever stands before its question runs each time)',
};

const GUARD =
  'Put effects after the last question, or guard them: ctx.once() of the shapes once, linear and journal, or ToolBuilder, ' +
  'whose steps run once.';

/** Looks at the first request alone: whatever it writes, it writes for users who then say no. */
const beforeAnswer = defineCheck('effect.before-answer', 'A', {
  expected: 'Nothing happens before the first answer.',
  clause: REENTERED,
  remedy: GUARD,
  needs: ['effects'],
  calls: () => 1,
  run: async (context) => {
    const before = await context.effects.read();
    const session = await context.untilRound(0);
    return (await context.effects.since(before, session))
      ? fail('The probe changed before anything was answered.', session)
      : pass('the probe did not change', session);
  },
});

/** Counts changes between requests, and not only their sum: two that cancel each other out would not show. */
const once = defineCheck('effect.once', 'A', {
  expected: 'A call that was approved has its effect once.',
  clause: REENTERED,
  remedy: GUARD,
  needs: ['effects'],
  calls: (rounds) => rounds + 1,
  run: async (context) => {
    const session = context.session();
    const changes: string[] = [];
    const first = await context.effects.read();
    let before: Reading = first;
    for (let outcome = await session.first(); ; outcome = await session.retry()) {
      if (await context.effects.since(before, session)) changes.push(`after request ${session.turns.length}`);
      before = await context.effects.read();
      if (outcome.kind !== 'asked') break;
      if (session.turns.length > MOST_ROUNDS)
        return abstain(`it asked more than ${MOST_ROUNDS} times`, session);
    }
    const { unit } = context.effects;
    if (changes.length > 1)
      return fail(`The probe changed ${changes.length} times: ${changes.join(', ')}.`, session);
    if (unit !== undefined && Number.isInteger(unit) && unit > 1 && unit <= 4 && looksLikeCount(first))
      return fail(
        `One call adds ${unit} to the probe. Where the probe counts effects, one call has ${unit}.`,
        session,
      );
    return pass(`the probe went from ${clip(first)} to ${clip(before)}`, session);
  },
});

/** A bare number is a count, and not a balance in a sentence. */
const looksLikeCount = (reading: Reading): boolean => /^\d+$/.test((reading ?? '').trim());

const perRound = defineCheck('effect.per-round', 'A', {
  expected: 'A call with more rounds has no more effects.',
  clause: REENTERED,
  remedy: GUARD,
  needs: ['effects'],
  calls: (rounds) => rounds + 3,
  run: async (context) => {
    if (context.effects.unit === undefined)
      return abstain('the probe holds no single number, so that effects cannot be counted');
    const before = await context.effects.read();
    const session = await longer(context);
    if (session.last?.kind !== 'completed')
      return notApplicable(
        `it cannot be made longer: ${session.last ? describeOutcome(session.last) : 'nothing'}`,
      );
    const after = await context.effects.read();
    const count = context.effects.count(before, after);
    if (count === undefined) return abstain('the probe holds no single number any more');
    const sent = session.turns.length;
    if (count > 1.01) {
      await context.effects.since(before, session);
      return fail(`A call of ${sent} requests had ${count} times the effects of an honest one.`, session);
    }
    return pass(`as many effects in ${sent} requests as in ${context.facts.rounds.length + 1}`, session);
  },
});

async function longer(context: CheckContext): Promise<Session> {
  const session = await context.untilRound(0);
  for (let round = 0; round < 2 && session.last?.kind === 'asked'; round++)
    await session.retry({ inputResponses: undefined });
  await session.finish();
  return session;
}

export const EFFECT = [beforeAnswer, once, perRound];
