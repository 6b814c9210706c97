/** Questions are values; each shape decides how to ask them. */
import { hash } from 'node:crypto';
import type { InputRequest } from '@modelcontextprotocol/server';
import { canonicalJson } from '../wire/canonical-json.ts';
import type { InputKind } from '../wire/input-kind.ts';
import type { Answer } from './answer.ts';

// Symbol.for, so that two copies of this module in one process accept each other's questions.
const QUESTION: unique symbol = Symbol.for('mrtr.question') as never;

/**
 * A prepared question; `T` is the value of an accepted answer. Only the functions of these packages make one, such as
 * `elicitation` and `sampling`.
 */
export interface Question<T = unknown> {
  readonly [QUESTION]: true;
  readonly kind: InputKind;
  /** The question's text, for the user. If no user sees the question, it is for error messages. */
  readonly message: string;
  /** The input request as it goes out. */
  readonly request: InputRequest;
  /** {@link questionDigest} of the request. */
  readonly digest: string;
  /** The digest of the question's other wording; an answer to that wording counts too. */
  readonly otherWording?: string;
  /** The answer for a client that cannot be asked. Without it, only clients that can be asked are served. */
  readonly fallback?: T;
  /** Throws if the fallback belongs to another key. Without this method, it fits every key. */
  requireFallbackKey?(key: string): void;
  /** Reads one bare response as an answer to this question. */
  read(response: unknown): Answer<T>;
  /** Reduces an accepted or refused response to the parts that were asked for; later rounds need only those. */
  keep(response: unknown): unknown;
}

/** The value of an accepted answer to `Q`. */
export type AnswerOf<Q extends Question> = Q extends Question<infer T> ? T : never;

/** Questions of one round, by their keys on the wire. */
export type Questions = Readonly<Record<string, Question>>;

/** The accepted answers to {@link Questions}, under the same keys. */
export type Answers<Q extends Questions> = { [Key in keyof Q]: AnswerOf<Q[Key]> };

/** Makes a question from its parts. */
export const question = <T, Rest extends object>(
  parts: Omit<Question<T>, typeof QUESTION | 'digest' | 'fallback'> & Rest,
  fallback?: T,
): Question<T> & Rest => {
  const { request } = parts;
  // The digest is computed once, so the words must not change afterwards.
  Object.freeze(request);
  Object.freeze(request.params);
  const digest = questionDigest(request);
  if (isFrozen(request)) digests.set(request, digest);
  const made = { [QUESTION]: true, digest, ...parts } as const;
  return fallback === undefined ? made : { ...made, fallback };
};

/** Whether `digest` belongs to `question`, in either of its wordings. */
export const isDigestOf = (digest: string | undefined, { digest: own, otherWording }: Question): boolean =>
  digest !== undefined && (digest === own || digest === otherWording);

/** Whether `value` is a question. */
export const isQuestion = (value: unknown): value is Question =>
  typeof value === 'object' && value !== null && QUESTION in value;

/** Whether `value` is a record of questions, with at least one. */
export const isQuestions = (value: unknown): value is Questions => {
  if (typeof value !== 'object' || value === null || isQuestion(value)) return false;
  const members = Object.values(value);
  return members.length > 0 && members.every(isQuestion);
};

/**
 * A digest that identifies a question: 128 bits, as 22 characters, over the request's method and parameters, which
 * include the message and the schema. A yes to one text must never count for another.
 */
export const questionDigest = (request: InputRequest): string =>
  digests.get(request) ?? hash('sha256', canonicalJson(request), 'buffer').toString('base64url', 0, 16);

/** The digests of requests that cannot change: a prepared question goes out in each call. */
const digests = new WeakMap<InputRequest, string>();

/** Whether no part of `value` can change. */
const isFrozen = (value: unknown) =>
  Object.isFrozen(value) &&
  (typeof value !== 'object' || value === null || Object.values(value).every(isFrozen));
