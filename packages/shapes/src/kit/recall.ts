/**
 * The answers of this round and of earlier ones. `inputResponses` holds only the latest round's, so a shape carries
 * earlier answers in its state.
 *
 * The boundary has dropped answers to keys that were not asked. An answer counts only for the same words: if a deploy
 * rewords the question, it is asked again.
 */
import type { InputRequest, InputRequests } from '@modelcontextprotocol/server';
import {
  type Answer,
  type AnswerOf,
  ask,
  type InputRequiredResult,
  type Question,
  type Questions,
  type ServerContext,
} from '@mrtr/core';
import { ownEntry } from '@mrtr/core/internal';
import {
  callOf,
  fallbackOf,
  hasFallback,
  isDigestOf,
  isFinal,
  keepStamp,
  questionDigest,
  readingOf,
} from '@mrtr/core/shape';
import { bareRecord, type ShapeTag, saveState } from './state.ts';
import { isKeyOf } from './wire-key.ts';

type RecordedAnswer = readonly [digest: string, response: unknown];

/** Reads answers, and keeps them for later rounds. */
export class Recall {
  readonly #ctx: ServerContext;
  readonly #answers: Record<string, RecordedAnswer>;
  readonly #unusable = new Set<string>();

  /** @param saved the answers that {@link Recall.save} gave in an earlier round. */
  constructor(ctx: ServerContext, saved: unknown) {
    this.#ctx = ctx;
    this.#answers = bareRecord<RecordedAnswer>(saved);
    callOf(ctx).reads.complete();
    // Keep all answers now: an author who reads one and asks again must not lose the others.
    for (const [key, digest] of callOf(ctx).asked ?? []) {
      const response = ownEntry(ctx.mcpReq.inputResponses, key);
      if (response !== undefined) this.#answers[key] = [digest, keepStamp(response)];
    }
  }

  /** The answer to `question` under `key`, of this round or of an earlier one. */
  read<Q extends Question>(key: string, question: Q): Answer<AnswerOf<Q>> {
    const { asked, askable, reads } = callOf(this.#ctx);
    const unasked = asked === undefined ? ownEntry(this.#ctx.mcpReq.inputResponses, key) : undefined;
    const recorded = this.#answers[key] ?? (unasked === undefined ? undefined : [question.digest, unasked]);
    if (recorded === undefined || !isDigestOf(recorded[0], question)) {
      reads.note(key, recorded === undefined ? 'missing' : 'reworded');
      const mayDefault = hasFallback(question) && !askable.includes(question.kind);
      return mayDefault ? { kind: 'accepted', value: fallbackOf(question, key) } : { kind: 'missing' };
    }
    const answer = question.read(recorded[1]) as Answer<AnswerOf<Q>>;
    reads.note(key, readingOf(answer));
    if (!isFinal(answer)) {
      this.#unusable.add(key);
      return answer;
    }
    const kept = question.keep(recorded[1]);
    this.#answers[key] = [question.digest, kept];
    // The author gets a copy, so that a later round reads the same value even if the author changes this one.
    return question.read(structuredClone(kept)) as Answer<AnswerOf<Q>>;
  }

  /** Asks `questions`. The state has the other answers, as for {@link Recall.save}, and `parts`. */
  ask(
    tag: ShapeTag,
    questions: Questions,
    names?: readonly string[],
    parts: Readonly<Record<string, object>> = {},
  ): InputRequiredResult {
    const asked = ask(questions);
    const answers = this.save(asked.inputRequests ?? {}, names);
    return { ...asked, requestState: saveState(tag, { a: answers, ...parts }) };
  }

  /**
   * The answers to keep in state when `requests` go out: all usable ones, except those that `requests` ask again. A
   * shape that knows all its steps or resolvers passes their names, to drop the answers to removed questions.
   */
  save(requests: InputRequests, names?: readonly string[]): Record<string, RecordedAnswer> {
    const isKnown = (key: string) => !names || names.some((name) => isKeyOf(name, key));
    const isAskedAgain = (key: string, digest: string) => {
      const request = ownEntry(requests, key) as InputRequest | undefined;
      return request !== undefined && questionDigest(request) === digest;
    };
    const kept = Object.entries(this.#answers).filter(
      ([key, [digest]]) => isKnown(key) && !this.#unusable.has(key) && !isAskedAgain(key, digest),
    );
    return Object.fromEntries(kept);
  }
}
