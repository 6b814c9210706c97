/** Anything that a server can ask its client for in a round. */
import { hash } from 'node:crypto';
import type { Answer } from './answer.ts';
import type { InputKind } from './can-ask.ts';
import { canonicalJson } from './state/canonical-json.ts';
import type { InputRequest } from './wire.ts';

/** A prepared question; `T` is what an accepted answer to it holds. Made by `elicitation`, `sampling`, `listRoots`. */
export interface Question<T = unknown> {
  readonly kind: InputKind;
  /** What is asked, in words: for the user, or, where no user sees it, for error messages. */
  readonly message: string;
  /** The input request as it goes out. */
  readonly request: InputRequest;
  /** {@link questionDigest} of the request. */
  readonly digest: string;
  /** Reads one bare response as an answer to this question. */
  read(response: unknown): Answer<T>;
  /** Of a response that was accepted or refused, what later rounds need: nothing that was not asked for. */
  keep(response: unknown): unknown;
}

/** What an accepted answer to `Q` holds. */
export type AnswerOf<Q extends Question> = Q extends Question<infer T> ? T : never;

/** Several questions of one round, under the keys that they have on the wire. */
export type Questions = Readonly<Record<string, Question>>;

/** The accepted answers to {@link Questions}, under the same keys. */
export type Answers<Q extends Questions> = { [Key in keyof Q]: AnswerOf<Q[Key]> };

/**
 * Eight characters that tell one question from another: of an input request's method and parameters, so of
 * the message and the schema. It detects change; the seal around it is what keeps it honest.
 */
export function questionDigest(request: InputRequest): string {
  const known = digests.get(request);
  if (known !== undefined) return known;
  const digest = hash('sha256', canonicalJson(request), 'base64url').slice(0, 8);
  digests.set(request, digest);
  return digest;
}

// A prepared question is asked again and again, and never changed.
const digests = new WeakMap<InputRequest, string>();
