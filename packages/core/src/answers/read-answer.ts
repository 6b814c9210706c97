/** Reads this round's answers. */
import type { ServerContext } from '@modelcontextprotocol/server';
import { type Answer, isFinal } from '../questions/answer.ts';
import { canAsk } from '../questions/can-ask.ts';
import { type AnswerOf, isDigestOf, type Question } from '../questions/question.ts';
import { describeUnfit } from '../questions/unfit-answer.ts';
import type { AnswerRead, UnfitAnswer } from '../wire/answer-reads.ts';
import { findCall } from '../wire/call.ts';
import { ownEntry } from '../wire/wire.ts';

/**
 * Reads this round's answer to `question` from the request's `inputResponses`, which hold the latest round only.
 *
 * On a protected server an answer counts only if `question` went out under `key`, in the same words, in the round
 * before; any other is `missing`. For a client that cannot be asked, and after the last answer that does not fit, the
 * answer is the question's `fallback`, if any.
 *
 * @throws InvalidDefinition when the schema validates asynchronously.
 * @example
 * const answer = readAnswer(ctx, 'units', units);
 * if (isRefusal(answer)) return cancelledResult('units');
 * if (answer.kind !== 'accepted') return ask({ units });
 */
export function readAnswer<Q extends Question>(
  ctx: ServerContext,
  key: string,
  question: Q,
): Answer<AnswerOf<Q>> {
  const call = findCall(ctx);
  const asked = call?.asked;
  const isAsked = asked === undefined || isDigestOf(asked.get(key), question);
  const response = isAsked ? ownEntry(ctx.mcpReq.inputResponses, key) : undefined;
  if (response === undefined && hasFallback(question) && !canAsk(ctx, question.kind))
    return { kind: 'accepted', value: fallbackOf(question, key) };
  const { answer, unfit } = readResponse(key, question, response, call?.timesUnfit.get(key));
  call?.reads.note(key, isAsked ? readingOf(answer) : asked.has(key) ? 'reworded' : 'missing', unfit);
  return answer;
}

/**
 * Reads the response to `question`: its answer, and why it does not fit, if so. Gives both if the question's `fallback` is the
 * answer instead, after the last answer that does not fit.
 *
 * @param timesUnfit how many answers to the question did not fit before.
 */
export function readResponse<Q extends Question>(
  key: string,
  question: Q,
  response: unknown,
  timesUnfit = 0,
): { readonly answer: Answer<AnswerOf<Q>>; readonly unfit?: UnfitAnswer | undefined } {
  const answer = question.read(response) as Answer<AnswerOf<Q>>;
  const unfit = describeUnfit(key, question, response, answer, timesUnfit);
  if (unfit?.end === undefined || !hasFallback(question)) return { answer, unfit };
  return { answer: { kind: 'accepted', value: fallbackOf(question, key) }, unfit };
}

/** How an answer was read, for {@link AnswerReads}. */
export const readingOf = (answer: Answer<unknown>): AnswerRead => (isFinal(answer) ? 'taken' : answer.kind);

/** Whether a question has a `fallback`. */
export const hasFallback = (question: Question) => 'fallback' in question;

/**
 * The answer under `key` for a client that cannot be asked. Each call gets its own copy, because its author may change it.
 *
 * @throws InvalidOption for a page's answer that is read under another key.
 */
export function fallbackOf<Q extends Question>(question: Q, key: string): AnswerOf<Q> {
  question.requireFallbackKey?.(key);
  return structuredClone(question.fallback) as AnswerOf<Q>;
}
