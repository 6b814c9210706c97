/** An answer to a question that this call has not asked yet. */
import { type AnswerOf, type Question, readAnswer, type ServerContext } from '@mrtr/core';

/**
 * The answer that a call's *first* request brings, or undefined.
 *
 * The shapes that keep state take no such answer: each is pinned to a question that went out. The suite's scenario
 * `ignore-extra-params` sends one all the same, with no first round and no state. So one tool, where it can do no harm,
 * reads it by hand. In a call that carries state this finds nothing, and the shape does its work.
 */
export function unaskedAnswer<Q extends Question>(
  ctx: ServerContext,
  key: string,
  question: Q,
): AnswerOf<Q> | undefined {
  if (ctx.mcpReq.requestState() !== undefined) return undefined;
  const answer = readAnswer(ctx, key, question);
  return answer.kind === 'accepted' ? answer.value : undefined;
}
