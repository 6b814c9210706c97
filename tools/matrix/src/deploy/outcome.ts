/** The outcome of a call whose version was replaced. The lab's page reads transcripts with it, so it must not need Node. */

import type { DeployOutcome } from '@mrtr/comparison/claims';
import { eventsOf, type Transcript } from '@mrtr/harness/transcript';

export function outcomeOf({ events, end }: Pick<Transcript, 'events' | 'end'>): DeployOutcome {
  if (end.error || end.result.isError) return 'rejects';
  if (effectsIn(events).some((effect, at, all) => all.indexOf(effect) !== at)) return 'repeats';
  const asked = answersIn(events).flatMap(Object.keys);
  return new Set(asked).size < asked.length ? 'asks again' : 'finishes';
}

/** The effects in order, each by its detail, since different ones may have the same name. */
export const effectsIn = (events: Transcript['events']) =>
  eventsOf('effect', events).map(({ detail }) => detail);

/** The user's answers in order, each a form of one field. */
export const answersIn = (events: Transcript['events']): object[] =>
  eventsOf('answer', events).map(({ reply }) => (reply === 'silence' ? {} : (reply.content ?? {})));
