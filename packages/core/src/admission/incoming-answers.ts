/** Checks the answers of a client before a handler reads them. */
import type { InputRequests } from '@modelcontextprotocol/server';
import type { AnswerEvent } from '../diagnostics/events.ts';
import type { Call } from '../wire/call.ts';
import { canonicalJson } from '../wire/canonical-json.ts';
import { type Members, ownEntry } from '../wire/wire.ts';

type Responses = Members;

/**
 * The answers to the questions that were asked, as a copy without the client's prototype. The SDK collects answers by
 * assignment, so an answer under `__proto__` becomes the prototype of the others, where a careless read finds it.
 *
 * @param asked the keys of the round before; undefined for answers to anything.
 */
export const ownAnswers = (
  responses: Responses,
  asked: ReadonlyMap<string, unknown> | undefined,
): Responses =>
  Object.fromEntries(Object.entries(responses).filter(([key]) => asked === undefined || asked.has(key)));

/**
 * Whether each answer is JSON of at most `maxBytes`, nested no deeper than arguments may be. Rejects numbers that
 * overflow (`1e999`): state would bring them back as null.
 */
export const answersFit = (responses: Responses | undefined, maxBytes: number) =>
  Object.values(responses ?? {}).every((response) => {
    try {
      return Buffer.byteLength(canonicalJson(response)) <= maxBytes;
    } catch {
      return false;
    }
  });

/** An answer that did not count, so that its question is asked again. */
export type IgnoredAnswer = Pick<AnswerEvent, 'key' | 'reason' | 'times' | 'didYouMean'>;

/** Finds this round's answers that did not count, for questions that were asked twice in a row and are asked again. */
export function ignoredAnswers(
  { asked, reads, timesAsked }: Call,
  responses: Members | undefined,
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

/** Tells the author why the answer did not count, and what to change. */
export function describeIgnored({ key, reason, didYouMean }: IgnoredAnswer) {
  if (reason === 'reworded')
    return "the question's words change from round to round. Keep what changes out of them, or in the state.";
  const instead =
    didYouMean === undefined ? '' : ` It reads '${didYouMean}', which was not asked. Use one key for both.`;
  return `the handler does not read the answer to '${key}'.${instead}`;
}
