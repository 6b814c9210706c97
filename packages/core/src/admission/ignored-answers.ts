/** Finds the answers that came and did not count, although their questions go out again and again. */

import type { InputRequests } from '@modelcontextprotocol/server';
import type { Call } from '../wire/call.ts';
import type { AnswerEvent } from '../wire/diagnostics.ts';
import { ownEntry } from '../wire/own-entry.ts';

/** An answer that came and did not count, and whose question is asked again. */
export type IgnoredAnswer = Pick<AnswerEvent, 'key' | 'reason' | 'times' | 'didYouMean'>;

/** The answers of this round that did not count, whose questions were asked twice in a row and now go out again. */
export function ignoredAnswers(
  { asked, reads, timesAsked }: Call,
  responses: Readonly<Record<string, unknown>> | undefined,
  requests: InputRequests,
): IgnoredAnswer[] {
  if (responses === undefined) return [];
  return Object.keys(requests).flatMap((key) => {
    const times = timesAsked.get(key) ?? 0;
    if (times < 2 || !asked?.has(key) || ownEntry(responses, key) === undefined) return [];
    const why = reads.whyIgnored(key);
    return why ? [{ key, times, ...why }] : [];
  });
}

/** What the author has to change. */
export function ignoredInWords({ key, reason, didYouMean }: IgnoredAnswer): string {
  if (reason === 'reworded') {
    return "the question's words change from round to round. Keep what changes out of them, or in the state.";
  }
  const instead =
    didYouMean === undefined ? '' : ` It reads '${didYouMean}', which was not asked. Use one key for both.`;
  return `the handler does not read the answer to '${key}'.${instead}`;
}
