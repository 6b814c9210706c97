/**
 * The answers of earlier rounds. `inputResponses` holds the latest round's only, so whatever a later round
 * still needs has to travel in `requestState`.
 *
 * An answer counts only for a question that went out in the round before, under its key and with its digest:
 * one that nobody asked for is never consumed, and a question that a deploy reworded is asked again.
 */
import {
  type Answer,
  type AnswerOf,
  type InputRequests,
  isSettled,
  ownEntry,
  type Question,
  questionDigest,
  type ServerContext,
} from '@mrtr/core';
import { bareRecord } from './shape.ts';

type Recorded = readonly [digest: string, response: unknown];

/** Reads answers, and remembers them for the rounds to come. */
export class Recall {
  readonly #asked: Readonly<Record<string, string>>;
  readonly #answers: Record<string, Recorded>;
  readonly #unusable = new Set<string>();

  /** @param saved what {@link Recall.save} gave in an earlier round. */
  constructor(ctx: ServerContext, saved: Readonly<Record<string, unknown>> | undefined) {
    this.#asked = bareRecord<string>(saved?.q);
    this.#answers = bareRecord<Recorded>(saved?.a);
    // Taken in before anybody reads them: an author who reads one answer and asks again must not lose the other.
    for (const [key, digest] of Object.entries(this.#asked)) {
      const response = ownEntry(ctx.mcpReq.inputResponses, key);
      if (response !== undefined) this.#answers[key] = [digest, response];
    }
  }

  /** The answer to `question` under `key`: this round's, or the one of the round that it came in. */
  read<Q extends Question>(key: string, question: Q): Answer<AnswerOf<Q>> {
    const recorded = this.#answers[key];
    if (recorded === undefined || recorded[0] !== question.digest) return { kind: 'missing' };
    const answer = question.read(recorded[1]) as Answer<AnswerOf<Q>>;
    if (!isSettled(answer)) {
      this.#unusable.add(key);
      return answer;
    }
    const kept = question.keep(recorded[1]);
    this.#answers[key] = [question.digest, kept];
    // What is kept, and a copy of it: a later round reads the same, whatever the schema lets through or the author does.
    return question.read(structuredClone(kept)) as Answer<AnswerOf<Q>>;
  }

  /** What to keep in `requestState` when `requests` go out. */
  save(requests: InputRequests | undefined): { q: Record<string, string>; a: Record<string, Recorded> } {
    const asked = Object.entries(requests ?? {}).map(
      ([key, request]) => [key, questionDigest(request)] as const,
    );
    for (const [key, digest] of asked) if (this.#answers[key]?.[0] === digest) delete this.#answers[key];
    for (const key of this.#unusable) delete this.#answers[key];
    return { q: Object.fromEntries(asked), a: { ...this.#answers } };
  }
}
