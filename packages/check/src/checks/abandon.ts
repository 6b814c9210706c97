/** Calls that nobody comes back to. */
import { inWords, type Outcome } from '../talk/outcome.ts';
import type { Talk } from '../talk/talk.ts';
import { broken, type Check, type Finding, held, MRTR, undecided } from './check.ts';
import type { CheckContext } from './context.ts';

const ABANDONED = 200;
const MEASURED = 25;

export const flat: Check = {
  id: 'abandon.flat',
  family: 'safety',
  level: 'A',
  expected: `${ABANDONED} calls that nobody answers leave the server as fast as it was, and open to new ones.`,
  clause: {
    at: `${MRTR}, server requirements 8`,
    words:
      'Servers MUST NOT assume that clients will fulfill the inputRequests or retry the original request.',
  },
  remedy:
    'Keep nothing for a call between its rounds: state that travels with the client costs the server nothing. Where a ' +
    'handler is parked, limit for how long, and how many for each principal, so that nobody shuts the others out: the ' +
    'shape linear has both limits.',
  needs: ['question'],
  calls: () => ABANDONED,
  run: async (context): Promise<Finding> => {
    const durations: number[] = [];
    let talk: Talk | undefined;
    for (let call = 0; call < ABANDONED; call++) {
      talk = context.talk();
      const outcome = await talk.first();
      if (outcome.kind !== 'asked') return refused(context, call, talk, outcome);
      durations.push(talk.turns[0]?.reply.ms ?? 0);
    }
    // The first few pay for connections and compilation.
    const first = median(durations.slice(5, 5 + MEASURED));
    const last = median(durations.slice(-MEASURED));
    if (first === undefined || last === undefined) return undecided('nothing was measured');
    const words = `the median of ${MEASURED} calls went from ${first.toFixed(1)} ms to ${last.toFixed(1)} ms`;
    return last > 4 * first && last - first > 5
      ? broken(`With ${ABANDONED} abandoned calls ${words}.`, talk)
      : held(words);
  },
};

/** So many open calls, and no more: then it matters whether others are still served. */
async function refused(context: CheckContext, calls: number, talk: Talk, outcome: Outcome): Promise<Finding> {
  const words = `After ${calls} abandoned calls a new one came to ${inWords(outcome)}.`;
  if (context.inputs.address.otherHeaders === undefined) return broken(words, talk, { explains: true });
  const other = await context.talk({ principal: 'other' }).first();
  const served =
    other.kind === 'asked' ? 'Another principal is still served.' : 'Another principal is not served either.';
  return broken(`${words} ${served}`, talk, { explains: true });
}

const median = (values: readonly number[]): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
