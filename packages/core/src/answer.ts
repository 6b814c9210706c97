/** What came back for a question: five ways, so that a decline is never mistaken for silence. */

import type { ServerContext } from '@modelcontextprotocol/server';
import { inputResponse } from '@modelcontextprotocol/server';
import type { AnswerOf, Question } from './question.ts';
import type { StandardSchemaV1 } from './wire.ts';

/**
 * The five things that can have happened to a question. The SDK's `acceptedContent` folds the last four
 * into `undefined`, and a handler that re-asks on `undefined` asks a user who said no until the round cap.
 */
export type Answer<T> =
  | Accepted<T>
  | Refusal
  /** No answer under this key. Ask again. */
  | { readonly kind: 'missing' }
  /** An answer that does not fit the schema that was asked with. Ask again. */
  | { readonly kind: 'invalid'; readonly issues: readonly StandardSchemaV1.Issue[] };

/** An answer that fits its question's schema; `value` is what the schema made of it. */
export type Accepted<T> = { readonly kind: 'accepted'; readonly value: T };

/** The user said no (`declined`), or dismissed the question without saying anything (`cancelled`). */
export type Refusal = { readonly kind: 'declined' } | { readonly kind: 'cancelled' };

/** An {@link Answer} after which there is nothing more to ask. */
export type Settled<T> = Accepted<T> | Refusal;

/** Whether the user said no, in either of the two ways. */
export const isRefusal = (answer: Answer<unknown>): answer is Refusal =>
  answer.kind === 'declined' || answer.kind === 'cancelled';

/** Whether the question is settled, so that asking it again would be rude. */
export const isSettled = <T>(answer: Answer<T>): answer is Settled<T> =>
  answer.kind === 'accepted' || isRefusal(answer);

/**
 * Reads this round's answer to `question` from the request's `inputResponses`.
 *
 * `inputResponses` holds the latest round only, comes from the client, and is not checked by the SDK; the
 * value of an accepted answer has passed the question's schema.
 *
 * @throws TypeError when the schema validates asynchronously.
 */
export const readAnswer = <Q extends Question>(ctx: ServerContext, key: string, question: Q) =>
  question.read(ownEntry(ctx.mcpReq.inputResponses, key)) as Answer<AnswerOf<Q>>;

/** Reads one bare elicitation result as an answer to an elicitation. */
export function interpret<Schema extends StandardSchemaV1>(
  response: unknown,
  question: { readonly message: string; readonly schema: Schema },
): Answer<StandardSchemaV1.InferOutput<Schema>> {
  const view = inputResponse({ response }, 'response');
  if (view.kind !== 'elicit') return { kind: 'missing' };
  if (view.action !== 'accept') return { kind: view.action === 'decline' ? 'declined' : 'cancelled' };
  const outcome = question.schema['~standard'].validate(view.content ?? {});
  if (outcome instanceof Promise) {
    // Zod, say, tries again asynchronously when a refinement throws; that one may fail with nobody listening.
    outcome.catch(() => {});
    throw new TypeError(
      `The schema of "${question.message}" validates asynchronously; answers are read synchronously.`,
    );
  }
  if (!outcome.issues) return { kind: 'accepted', value: outcome.value };
  return view.content === undefined ? { kind: 'missing' } : { kind: 'invalid', issues: outcome.issues };
}

/** `record[key]`, unless it is inherited: a client names the keys, so `__proto__` must find nothing. */
export const ownEntry = (record: Readonly<Record<string, unknown>> | undefined, key: string): unknown =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
