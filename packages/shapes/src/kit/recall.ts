/**
 * The answers of this round and of earlier ones. `inputResponses` holds only the latest round's, so a shape carries
 * earlier answers in its state.
 *
 * The boundary has dropped answers to keys that were not asked. An answer counts only for the same words: if a deploy
 * rewords the question, it is asked again.
 */
import type { InputRequest, InputRequests, InputRequiredResult } from '@modelcontextprotocol/server';
import {
  type Answer,
  type AnswerOf,
  ask,
  type Question,
  type Questions,
  type ServerContext,
} from '@mrtr/core';
import { hasFallback, ownEntry, readingOf, readResponse } from '@mrtr/core/internal';
import { callOf, fallbackOf, isDigestOf, isFinal, keepStamp, questionDigest } from '@mrtr/core/shape';
import { copyJson } from './json.ts';
import { bareRecord, loadState, type ShapeTag, saveState } from './state.ts';
import { isKeyOf } from './wire-key.ts';

/** An answer, without a response if it is the question's `fallback`. */
type RecordedAnswer = readonly [digest: string, response?: unknown];

/**
 * Reads a call's answers in one round, and keeps them for later rounds, in the request state of a shape.
 *
 * @example
 * shapeCallback('my-shape', async (input, ctx, call) => {
 *   const recall = new Recall(ctx, 'my-shape/1');
 *   const answer = recall.read('sure', sure);
 *   if (isRefusal(answer)) return endCancelled(call, 'sure');
 *   return answer.kind === 'accepted' ? finish(input, answer.value) : recall.ask({ sure });
 * });
 */
export class Recall {
  readonly #ctx: ServerContext;
  readonly #tag: ShapeTag;
  readonly #answers: Record<string, RecordedAnswer>;
  readonly #unusable = new Set<string>();
  /** The `parts` that the shape kept beside the answers in an earlier round, by their names. */
  readonly saved: Readonly<Record<string, unknown>> | undefined;

  /**
   * @param tag the shape's name and the version of its state, as `my-shape/1`. No part may have the name `s` or `a`.
   * @throws ProtocolError (-32602) for the state of another tag: to start over would repeat the effects that it records.
   */
  constructor(ctx: ServerContext, tag: ShapeTag) {
    this.#ctx = ctx;
    this.#tag = tag;
    this.saved = loadState(ctx, tag);
    this.#answers = bareRecord<RecordedAnswer>(this.saved?.a);
    callOf(ctx).reads.complete();
    // Keep all answers now: an author who reads one and asks again must not lose the others.
    for (const [key, digest] of callOf(ctx).asked ?? []) {
      const response = ownEntry(ctx.mcpReq.inputResponses, key);
      if (response !== undefined) this.#answers[key] = [digest, keepStamp(response)];
    }
  }

  /** The answer to `question` under `key`, of this round or of an earlier one. */
  read<Q extends Question>(key: string, question: Q): Answer<AnswerOf<Q>> {
    const { asked, askable, reads, timesUnfit } = callOf(this.#ctx);
    const unasked = asked === undefined ? ownEntry(this.#ctx.mcpReq.inputResponses, key) : undefined;
    const recorded = this.#answers[key] ?? (unasked === undefined ? undefined : [question.digest, unasked]);
    if (recorded === undefined || !isDigestOf(recorded[0], question)) {
      reads.note(key, recorded === undefined ? 'missing' : 'reworded');
      const mayDefault = hasFallback(question) && !askable.includes(question.kind);
      return mayDefault ? { kind: 'accepted', value: fallbackOf(question, key) } : { kind: 'missing' };
    }
    if (recorded.length === 1 && hasFallback(question)) {
      reads.note(key, 'taken');
      return { kind: 'accepted', value: fallbackOf(question, key) };
    }
    const { answer, unfit } = readResponse(key, question, recorded[1], timesUnfit.get(key));
    reads.note(key, readingOf(answer), unfit);
    if (!isFinal(answer)) {
      this.#unusable.add(key);
      return answer;
    }
    if (unfit) {
      this.#answers[key] = [question.digest];
      return answer;
    }
    // A copy, so that a later round reads the same value even if the author changes this one.
    this.#answers[key] = [question.digest, copyJson(question.keep(recorded[1]))];
    return answer;
  }

  /** Asks `questions`, with the state that {@link Recall.stateFor} makes. */
  ask(
    questions: Questions,
    names?: readonly string[],
    parts?: Readonly<Record<string, object>>,
  ): InputRequiredResult {
    const asked = ask(questions);
    return { ...asked, requestState: this.stateFor(asked.inputRequests ?? {}, names, parts) };
  }

  /**
   * The state to send with `requests`: `parts`, and all usable answers, except those that `requests` ask again.
   *
   * @param names the names of all steps or resolvers, where the shape knows them: drops the answers of removed ones.
   * @param parts what the shape itself keeps, as JSON.
   */
  stateFor(
    requests: InputRequests,
    names?: readonly string[],
    parts: Readonly<Record<string, object>> = {},
  ): string {
    const isKnown = (key: string) => !names || names.some((name) => isKeyOf(name, key));
    const isAskedAgain = (key: string, digest: string) => {
      const request = ownEntry(requests, key) as InputRequest | undefined;
      return request !== undefined && questionDigest(request) === digest;
    };
    const kept = Object.entries(this.#answers).filter(
      ([key, [digest]]) => isKnown(key) && !this.#unusable.has(key) && !isAskedAgain(key, digest),
    );
    return saveState(this.#tag, { a: Object.fromEntries(kept), ...parts });
  }
}
