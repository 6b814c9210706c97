/** Asks an old client with a request over the stream that its call holds open. */
import { randomUUID } from 'node:crypto';
import type { ServerContext } from '@modelcontextprotocol/server';
import { publish } from '../diagnostics/events.ts';
import { CannotAsk, RoundsExceeded } from '../errors.ts';
import { type Accepted, isFinal, type Refusal } from '../questions/answer.ts';
import { canAsk, canAskLive } from '../questions/can-ask.ts';
import { onOldWire } from '../questions/form-choices.ts';
import type { AnswerOf, Question } from '../questions/question.ts';
import { withReason } from '../questions/unfit-answer.ts';
import type { UnfitAnswer } from '../wire/answer-reads.ts';
import { stampAnswer } from '../wire/answer-stamp.ts';
import { callOf, MRTR_REVISION, speaksMrtr } from '../wire/call.ts';
import { ANY_RESULT, isNoHandlerError } from '../wire/no-handler.ts';
import { fallbackOf, hasFallback, readingOf, readResponse } from './read-answer.ts';

// People need longer than the protocol's default of 60 s. The values are those of the SDK's shim.
const HUMAN_PACED = { timeout: 600_000, resetTimeoutOnProgress: true, onprogress: () => {} };
const MAX_ATTEMPTS = 8;

/**
 * Asks `question` over the live connection of a client at 2025-11-25 and waits for the answer. An answer that
 * does not fit is asked again with the reason. After the third one, or the second without any required field, the answer is
 * the question's `fallback`, if it has one.
 *
 * The question is a plain request. `ctx.mcpReq.elicitInput` would throw on the first answer that does not fit, and
 * would compile an inline schema on every call.
 *
 * For a client that cannot be asked, the answer is the question's `fallback`, if it has one.
 *
 * @example if (canAskLive(ctx, 'elicitation')) answer = await askLive(ctx, 'units', units);
 * @throws CannotAsk at once, if the question has no `fallback` and either no live connection is open (stateless
 * serving), or the client did not declare the kind of input, or has no handler for it. Its answer could never arrive.
 * @throws UnprotectedServer on a server without `protectRequestState`.
 * @throws RoundsExceeded after the last answer that does not fit, for a question without a `fallback`.
 */
export async function askLive<Q extends Question>(
  ctx: ServerContext,
  key: string,
  question: Q,
): Promise<Accepted<AnswerOf<Q>> | Refusal> {
  const call = callOf(ctx);
  if (!canAskLive(ctx, question.kind)) {
    const why = whyNotLive(ctx, question);
    if (canAsk(ctx, question.kind)) throw new CannotAsk(why);
    return useFallback(key, question, why);
  }
  let before: UnfitAnswer | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    publish('mrtr:ask', { call: call.id, target: call.target, keys: [key], live: true });
    const { method } = question.request;
    const params = paramsOf(question, before);
    const { askedAt } = call.stamp(key);
    // With the call's signal, so that an answer after a cancellation starts nothing.
    const terms = { ...HUMAN_PACED, signal: ctx.mcpReq.signal };
    let response: unknown;
    try {
      response = await ctx.mcpReq.send({ method, params } as never, ANY_RESULT, terms);
    } catch (error) {
      if (!isNoHandlerError(error)) throw error;
      return useFallback(
        key,
        question,
        `Cannot ask: the client declared ${question.kind}, and has no handler for it.`,
      );
    }
    const stamp = () => call.stamp(key, askedAt, question.digest);
    const { answer, unfit } = readResponse(key, question, stampAnswer(response, stamp), before?.times);
    call.reads.note(key, readingOf(answer), unfit);
    if (isFinal(answer)) return answer;
    if (unfit?.end !== undefined) throw new RoundsExceeded(unfit.end);
    before = unfit;
  }
  throw new RoundsExceeded(`No usable answer to "${question.message}" in ${MAX_ATTEMPTS} attempts.`);
}

/** @throws CannotAsk if the question has no fallback. */
function useFallback<Q extends Question>(key: string, question: Q, why: string): Accepted<AnswerOf<Q>> {
  if (!hasFallback(question)) throw new CannotAsk(why);
  return { kind: 'accepted', value: fallbackOf(question, key) };
}

/** Adds the page id that the old revision requires and the new one does not have. The SDK's shim invents one too. */
const paramsOf = ({ kind, request }: Question, unfit: UnfitAnswer | undefined): unknown =>
  kind === 'elicitation.url'
    ? { ...request.params, elicitationId: randomUUID() }
    : onOldWire(unfit ? withReason(request, unfit) : request).params;

function whyNotLive(ctx: ServerContext, { kind }: Question) {
  if (speaksMrtr(ctx))
    return `Cannot ask live: a client at ${MRTR_REVISION} is asked by returning input_required.`;
  return callOf(ctx).legacyCapabilities === undefined
    ? 'Cannot ask: no live connection to the client is open (stateless serving of a 2025-11-25 client).'
    : `Cannot ask: the client did not declare the ${kind} capability.`;
}
