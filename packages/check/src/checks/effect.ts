/** When effects happen, and how many. */

import { clip, type Reading } from '../run/effects.ts';
import { inWords } from '../talk/outcome.ts';
import { MOST_ROUNDS, type Talk } from '../talk/talk.ts';
import { broken, type Check, type Finding, held, notApplicable, undecided } from './check.ts';
import type { CheckContext } from './context.ts';

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
export const beforeAnswer: Check = {
  id: 'effect.before-answer',
  family: 'safety',
  level: 'A',
  expected: 'Nothing happens before the first answer.',
  clause: REENTERED,
  remedy: GUARD,
  needs: ['question', 'effects'],
  calls: () => 1,
  run: async (context): Promise<Finding> => {
    const before = await context.effects.read();
    const talk = await context.untilRound(0);
    const effect = await context.effects.since(before, talk);
    return effect
      ? broken('The probe changed before anything was answered.', talk)
      : held('the probe did not change', talk);
  },
};

/** Counts changes between requests, and not only their sum: two that cancel each other out would not show. */
export const once: Check = {
  id: 'effect.once',
  family: 'safety',
  level: 'A',
  expected: 'A call that was approved has its effect once.',
  clause: REENTERED,
  remedy: GUARD,
  needs: ['question', 'effects'],
  calls: (rounds) => rounds + 1,
  run: async (context): Promise<Finding> => {
    const talk = context.talk();
    const changes: string[] = [];
    const first = await context.effects.read();
    let before: Reading = first;
    for (let outcome = await talk.first(); ; outcome = await talk.retry()) {
      if (await context.effects.since(before, talk)) changes.push(`after request ${talk.turns.length}`);
      before = await context.effects.read();
      if (outcome.kind !== 'asked') break;
      if (talk.turns.length > MOST_ROUNDS) return undecided(`it asked more than ${MOST_ROUNDS} times`, talk);
    }
    const { unit } = context.effects;
    if (changes.length > 1)
      return broken(`The probe changed ${changes.length} times: ${changes.join(', ')}.`, talk);
    if (unit !== undefined && Number.isInteger(unit) && unit > 1 && unit <= 4 && looksLikeCount(first))
      return broken(
        `One call adds ${unit} to the probe. Where the probe counts effects, one call has ${unit}.`,
        talk,
      );
    return held(`the probe went from ${clip(first)} to ${clip(before)}`, talk);
  },
};

/** A bare number is a count, and not a balance in a sentence. */
const looksLikeCount = (reading: Reading): boolean => /^\d+$/.test((reading ?? '').trim());

/** Makes the call longer by leaving a question unanswered, and compares with an honest call. */
export const perRound: Check = {
  id: 'effect.per-round',
  family: 'safety',
  level: 'A',
  expected: 'A call with more rounds has no more effects.',
  clause: REENTERED,
  remedy: GUARD,
  needs: ['question', 'effects'],
  calls: (rounds) => rounds + 3,
  run: async (context): Promise<Finding> => {
    if (context.effects.unit === undefined)
      return undecided('the probe holds no single number, so that effects cannot be counted');
    const before = await context.effects.read();
    const talk = await longer(context);
    if (talk.last?.kind !== 'completed')
      return notApplicable(`a call cannot be made longer: ${talk.last ? inWords(talk.last) : 'nothing'}`);
    const after = await context.effects.read();
    const count = context.effects.count(before, after);
    if (count === undefined) return undecided('the probe holds no single number any more');
    if (count > 1.01) {
      await context.effects.since(before, talk);
      return broken(
        `A call of ${talk.turns.length} requests had ${count} times the effects of an honest one.`,
        talk,
      );
    }
    return held(
      `as many effects in ${talk.turns.length} requests as in ${context.facts.rounds.length + 1}`,
      talk,
    );
  },
};

/** An honest call whose first question was left unanswered twice. */
async function longer(context: CheckContext): Promise<Talk> {
  const talk = await context.untilRound(0);
  for (let round = 0; round < 2 && talk.last?.kind === 'asked'; round++)
    await talk.retry({ inputResponses: undefined });
  await talk.finish();
  return talk;
}
