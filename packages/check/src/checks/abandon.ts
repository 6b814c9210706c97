/** Calls that the client abandons. */
import { advise, defineCheck, pass } from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import { type Session, Undecided } from '../session/session.ts';
import type { ReplyOutcome } from '../wire/outcome.ts';
import { UNANSWERED } from './refusal.ts';

const ABANDONED = 200;
const MEASURED = 25;
const BATCHES = 2;
/** A server that rejects after fewer calls is broken, not full. */
const LEAST = 10;

/** Describes growth over both halves of the calls: a leak grows in both, a normal heap does not. */
function growth([first, half, last]: readonly (number | undefined)[]) {
  if (first === undefined || half === undefined || last === undefined) return undefined;
  const grows = half > first && last > half && last - first > first / 2;
  return grows ? `the probe went from ${first} to ${half} and to ${last}` : undefined;
}

/** Whether calls became slower by more than normal variation. */
const slower = (first: number, last: number) => last > 4 * first && last - first > 5;

const LIMITED =
  'It limits the open calls of each principal, so that nobody shuts the others out: a server that holds calls cannot do ' +
  'more. Let held calls expire, or accept this finding. State that travels with the client would cost nothing.';

/** The finding of a server that rejects more open calls: it should still serve other principals. The honest call after it fails too. */
async function judgeRejection(context: CheckContext, calls: number, session: Session, outcome: ReplyOutcome) {
  if (calls < LEAST)
    throw new Undecided(`after ${calls} calls the server is out of order: ${outcome}`, session);
  const words = `After ${calls} abandoned calls a new one came to ${outcome}.`;
  if (!context.inputs.address.otherHeaders) return advise(words, session, { holds: true });
  const other = await context.session({ principal: 'other' }).first();
  const isServed = other.kind === 'asked';
  const served = isServed ? 'Another principal is still served.' : 'Another principal is not served either.';
  return advise(`${words} ${served}`, session, { holds: true, remedy: isServed ? LIMITED : undefined });
}

/** The first quartile: other work on the machine only makes calls longer. */
const quickest = (durations: readonly number[]) =>
  durations.toSorted((a, b) => a - b)[Math.floor(durations.length / 4)] ?? 0;

export const ABANDON = [
  defineCheck('abandon.flat', 'A', {
    expected: `${ABANDONED} abandoned calls do not slow the server, make it grow, or block new calls.`,
    clause: UNANSWERED,
    remedy:
      'Keep nothing for a call between its rounds: state that travels with the client costs the server nothing. If you park ' +
      'handlers, limit their time and their number for each principal, so that nobody shuts the others out. In TypeScript: ' +
      'the shape linear has both limits.',
    // A slow batch is measured again.
    calls: () => ABANDONED + BATCHES * MEASURED,
    run: async (context) => {
      const durations: number[] = [];
      const kept = [await context.effects.gauge()];
      let session: Session | undefined;
      for (let call = 0; call < ABANDONED; call++) {
        session = context.session();
        const outcome = await session.first();
        if (outcome.kind !== 'asked') return judgeRejection(context, call, session, outcome);
        durations.push(session.turns[0]?.reply.ms ?? 0);
        if (call === ABANDONED / 2 - 1 || call === ABANDONED - 1) kept.push(await context.effects.gauge());
      }
      const more = growth(kept);
      if (more) return advise(`With ${ABANDONED} abandoned calls ${more}.`, session);
      // The first few calls include connecting and compiling.
      const first = quickest(durations.slice(5, 5 + MEASURED));
      let last = quickest(durations.slice(-MEASURED));
      // A busy machine is slow for a while; a server that has grown stays slow.
      for (let batch = 0; batch < BATCHES && slower(first, last); batch++) {
        const again: number[] = [];
        for (let call = 0; call < MEASURED; call++) {
          session = await context.untilRound(0);
          again.push(session.turns[0]?.reply.ms ?? 0);
        }
        last = Math.min(last, quickest(again));
      }
      const words = `a quarter of ${MEASURED} calls took ${first.toFixed(1)} ms before, and ${last.toFixed(1)} ms after`;
      return slower(first, last)
        ? advise(`With ${ABANDONED} abandoned calls ${words}.`, session)
        : pass(words);
    },
  }),
];
