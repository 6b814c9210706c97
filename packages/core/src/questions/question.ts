/** A question is a value. Each shape decides what to do with it. */
import { hash } from 'node:crypto';
import type { InputRequest } from '@modelcontextprotocol/server';
import { canonicalJson } from '../support/canonical-json.ts';
import type { InputKind } from '../wire/input-kind.ts';
import type { Answer } from './answer.ts';

// Symbol.for, so that two copies of this module in one process know each other's questions.
const QUESTION: unique symbol = Symbol.for('mrtr.question') as never;

/**
 * A prepared question; `T` is the value of an accepted answer. Made by `elicitation`, `sampling` and `listRoots`,
 * and by nothing else.
 */
export interface Question<T = unknown> {
  readonly [QUESTION]: true;
  readonly kind: InputKind;
  /** The question as text: for the user, or, where no user sees it, for error messages. */
  readonly message: string;
  /** The input request as it goes out. */
  readonly request: InputRequest;
  /** {@link questionDigest} of the request. */
  readonly digest: string;
  /** The digest of the same question in its other wording: an answer to that one counts as well. */
  readonly otherWording?: string;
  /** The answer for a client that cannot be asked. Without it, only clients that can be asked are served. */
  readonly fallback?: T;
  /** Throws where the fallback answers another key. Without it, it answers every key. */
  requireFallbackKey?(key: string): void;
  /** Reads one bare response as an answer to this question. */
  read(response: unknown): Answer<T>;
  /** The part of an accepted or refused response that later rounds need: only what was asked for. */
  keep(response: unknown): unknown;
}

/** The value of an accepted answer to `Q`. */
export type AnswerOf<Q extends Question> = Q extends Question<infer T> ? T : never;

/** Several questions of one round, under their keys on the wire. */
export type Questions = Readonly<Record<string, Question>>;

/** The accepted answers to {@link Questions}, under the same keys. */
export type Answers<Q extends Questions> = { [Key in keyof Q]: AnswerOf<Q[Key]> };

/** Makes a question from its parts. */
export const question = <T, Rest extends object>(
  parts: Omit<Question<T>, typeof QUESTION | 'digest' | 'fallback'> & Rest,
  fallback?: T,
): Question<T> & Rest => {
  // The digest is worked out once, so the words must not change afterwards.
  Object.freeze(parts.request);
  Object.freeze(parts.request.params);
  const made = { [QUESTION]: true, digest: questionDigest(parts.request), ...parts } as const;
  return fallback === undefined ? made : { ...made, fallback };
};

/** Whether `digest` is that of `question`, in either of its wordings. */
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
 * 128 bits that identify a question, as 22 characters: a digest of an input request's method and parameters, and so of
 * the message and the schema. A yes to one text must never count for another.
 */
export const questionDigest = (request: InputRequest): string =>
  hash('sha256', canonicalJson(request), 'buffer').toString('base64url', 0, 16);
