/** The time and the number of effects. */
import { abstain, advise, cite, defineCheck, notApplicable, pass } from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import { describeChange, type Reading, UNCOUNTED } from '../observations/effects.ts';
import { MAX_ROUNDS } from '../session/session.ts';

const REENTERED = {
  clause: cite('basic/patterns/mrtr, basic workflow', 'the requests in each step are completely independent'),
  remedy:
    'Put effects after the last question, or let each run once for a call. In TypeScript: ctx.once() of the shapes once, ' +
    'linear and journal, or a step of ToolBuilder.',
  needs: ['effects'],
} as const;

const ALREADY_ONCE =
  'The effect already happens only once for each call. If a user who declines must leave no trace, put it after the last ' +
  'question. If it may remain, as an entry in a log does, accept this finding in the baseline.';

const ONE_KIND = 'To tell them apart, give a probe that counts effects of one kind.';

/** These effects come after the last question, so the other remedy does not help. */
const AT_ONCE =
  'If one effect runs more than once after the last answer, claim an id of the call in a single atomic step before it: ' +
  'a unique key in your database. If these are several effects, change nothing. In TypeScript: a ledger of @mrtr/ledgers.';

/** Whether a reading is a bare number: a count, rather than a balance in a sentence. */
const looksLikeCount = (reading: Reading) => /^\d+$/.test((reading ?? '').trim());

/** The effects of one call, with room for rounding. */
const ONCE = 1.01;

/** Makes a call with two extra retries without answers, and counts its effects in honest calls. */
async function timesInLonger(context: CheckContext) {
  const { effects } = context;
  const before = await effects.read();
  const session = await context.untilRound(0);
  await session.finish(2, () => ({ inputResponses: undefined }));
  const end = await session.finish();
  const count = end.kind === 'completed' ? effects.count(before, await effects.read()) : undefined;
  return { session, before, count };
}

export const EFFECT = [
  /** Sends only the first request: its effects happen even for users who then decline. */
  defineCheck('effect.before-answer', 'A', {
    expected: 'A call has no effect before the first answer.',
    ...REENTERED,
    calls: () => 1,
    run: async (context) => {
      const before = await context.effects.read();
      const session = await context.untilRound(0);
      if (!(await context.effects.since(before, session))) return pass('the probe did not change', session);
      const guarded = (await timesInLonger(context)).count;
      return advise('The probe changed before anything was answered.', session, {
        remedy: guarded !== undefined && guarded <= ONCE ? ALREADY_ONCE : undefined,
      });
    },
  }),
  /** Counts changes after each request: a sum would hide two that cancel each other out. */
  defineCheck('effect.once', 'A', {
    expected: 'An approved call has its effect once.',
    ...REENTERED,
    run: async (context) => {
      const session = context.session();
      const changes: string[] = [];
      const first = await context.effects.read();
      let before: Reading = first;
      for (let outcome = await session.first(); ; outcome = await session.retry()) {
        if (await context.effects.since(before, session))
          changes.push(`after request ${session.turns.length}`);
        before = context.effects.last;
        if (outcome.kind !== 'asked') break;
        if (session.turns.length > MAX_ROUNDS)
          return abstain(`it asked more than ${MAX_ROUNDS} times`, session);
      }
      const { unit } = context.effects;
      if (changes.length > 1)
        return advise(
          `The probe changed ${changes.length} times: ${changes.join(', ')}. That is one repeated effect, or ` +
            `several of different kinds. ${ONE_KIND}`,
          session,
        );
      if (unit !== undefined && Number.isInteger(unit) && unit > 1 && unit <= 4 && looksLikeCount(first))
        return advise(
          `One call adds ${unit} to the probe at once: one effect ${unit} times, or effects of different kinds. ${ONE_KIND}`,
          session,
          { remedy: AT_ONCE },
        );
      return pass(describeChange(first, before), session);
    },
  }),
  defineCheck('effect.per-round', 'A', {
    expected: 'A call with more rounds has no more effects.',
    ...REENTERED,
    calls: (rounds) => rounds + 3,
    run: async (context) => {
      if (context.effects.unit === undefined) return abstain(UNCOUNTED);
      const { session, before, count } = await timesInLonger(context);
      if (session.last?.kind !== 'completed')
        return notApplicable(`it cannot be made longer: ${session.last ?? 'nothing'}`);
      if (count === undefined) return abstain('the probe holds no single number any more');
      const sent = session.turns.length;
      if (count > ONCE) {
        await context.effects.since(before, session);
        return advise(`A call of ${sent} requests had ${count} times the effects of an honest one.`, session);
      }
      return pass(`as many effects in ${sent} requests as in ${context.facts.rounds.length + 1}`, session);
    },
  }),
];
