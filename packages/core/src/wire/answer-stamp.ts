/**
 * Stamps: the boundary adds the facts of the call to each answer to an elicitation, and overwrites a client's own
 * stamp. So a receipt can name the approved call. A shape keeps the stamp with the answer in sealed state.
 */

import { type AnswerStamp, CALL } from './call.ts';
import { type Members, mapValues } from './wire.ts';

// An answer that came in has its stamp as a hidden member under CALL: JSON, spreads, `Object.keys` and an author's strict
// schema do not see it.

/** The stamp's key in a shape's own state, which is JSON. In an answer that came in, the client wrote it. */
const KEPT = 'mrtr.stamp';

// Stamps of answers that have not been reported. Stamps from state are copies, so they are not in here.
const unreported = new WeakSet<object>();

/** Adds a stamp to an answer to an elicitation. Other answers stay unchanged. */
export function stampAnswer(response: unknown, make: () => AnswerStamp) {
  if (typeof response !== 'object' || response === null || !('action' in response)) return response;
  const stamp = make();
  unreported.add(stamp);
  return Object.defineProperty({ ...response }, CALL, { value: stamp });
}

/** The answers without the stamps that {@link keepStamp} added. */
export const withoutStamps = (responses: Members): Record<string, unknown> =>
  mapValues(responses, withoutStamp);

function withoutStamp(response: unknown) {
  if (stampOf(response) === undefined) return response;
  const { [KEPT]: _stamp, ...sent } = response as Record<string, unknown>;
  return sent;
}

type Stamped = { readonly [CALL]?: AnswerStamp; readonly [KEPT]?: AnswerStamp } | null | undefined;

/** The stamp of an answer; undefined if the boundary has not stamped it. */
export const stampOf = (response: unknown): AnswerStamp | undefined =>
  (response as Stamped)?.[CALL] ?? (response as Stamped)?.[KEPT];

/** Adds the stamp of `response` to the parts of the answer that a shape keeps, so that it survives JSON. */
export function keepStamp(response: unknown, kept = response): unknown {
  const stamp = stampOf(response);
  return stamp === undefined ? kept : { ...(kept as object), [KEPT]: stamp };
}

/** Returns true for the first report of an answer, and false afterwards. */
export const isFirstReport = (stamp: AnswerStamp) => unreported.delete(stamp);
