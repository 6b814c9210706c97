/** The answer to a question, in five kinds, so that a decline is never mistaken for silence. */
import type { StandardSchemaV1 } from '@modelcontextprotocol/server';

/**
 * The five things that can happen to a question. The SDK's `acceptedContent` folds the last four into
 * `undefined`, and a handler that asks again on `undefined` asks a user who said no until the limit of rounds.
 */
export type Answer<T> =
  | Accepted<T>
  | Refusal
  /** No answer to this question. Ask again. */
  | { readonly kind: 'missing' }
  /** An answer that does not fit the question's schema. Ask again. */
  | { readonly kind: 'invalid'; readonly issues: readonly StandardSchemaV1.Issue[] };

/** An answer that fits its question's schema; `value` is the schema's output. */
export type Accepted<T> = { readonly kind: 'accepted'; readonly value: T };

/** The client declined the question (`declined`) or dismissed it (`cancelled`). */
export type Refusal = { readonly kind: 'declined' } | { readonly kind: 'cancelled' };

/** An {@link Answer} that closes its question. Do not ask it again. */
export type Settled<T> = Accepted<T> | Refusal;

/**
 * Whether the answer is a refusal: `declined` or `cancelled`.
 *
 * @example if (isRefusal(answer)) return cancelledResult('units');
 */
export const isRefusal = (answer: Answer<unknown>): answer is Refusal =>
  answer.kind === 'declined' || answer.kind === 'cancelled';

/** Whether the question is closed: accepted, declined or cancelled. Do not ask it again. */
export const isSettled = <T>(answer: Answer<T>): answer is Settled<T> =>
  answer.kind === 'accepted' || isRefusal(answer);
