/** The five kinds of answers. A decline is never treated as a missing answer. */
import type { StandardSchemaV1 } from '@modelcontextprotocol/server';

/**
 * An answer of one of five kinds. The SDK's `acceptedContent` turns the last four into `undefined`, and a handler that
 * asks again on `undefined` keeps asking a user who said no.
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

/** An answer after which the question must not be asked again. */
export type FinalAnswer<T> = Accepted<T> | Refusal;

/**
 * Whether the answer is a refusal: `declined` or `cancelled`.
 *
 * @example if (isRefusal(answer)) return cancelledResult('units');
 */
export const isRefusal = (answer: Answer<unknown>): answer is Refusal =>
  answer.kind === 'declined' || answer.kind === 'cancelled';

/** Whether an answer is final: accepted, declined or cancelled. Do not ask its question again. */
export const isFinal = <T>(answer: Answer<T>): answer is FinalAnswer<T> =>
  answer.kind === 'accepted' || isRefusal(answer);
