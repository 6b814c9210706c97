/** Serves an admitted call: runs its handler with the opened state and the answers. */
import {
  type InputRequiredResult,
  type InputResponses,
  isInputRequiredResult,
  type ServerContext,
  TRACEPARENT_META_KEY,
} from '@modelcontextprotocol/server';
import { publish, publishAround, type RoundEvent } from '../diagnostics/events.ts';
import { AnswerIgnored, OperatorWarning } from '../diagnostics/operator-warning.ts';
import { stampAnswer } from '../wire/answer-stamp.ts';
import { isModern, withCall } from '../wire/call.ts';
import { NoHandler } from '../wire/no-handler.ts';
import { sharedGetter } from '../wire/shared-getter.ts';
import type { Members } from '../wire/wire.ts';
import { type AdmittedCall, type McpRequest, secondsOf } from './admitted-call.ts';
import { lackedKinds } from './ask-problem.ts';
import { isErrorResult } from './handler-entry.ts';
import { HandlerSignal } from './handler-signal.ts';
import { describeIgnored, ignoredAnswers } from './incoming-answers.ts';
import { sendQuestions } from './send-questions.ts';

type Outcome = NonNullable<RoundEvent['outcome']>;

/** A low-level handler: the author's, or `McpServer`'s. */
export type Handler = (request: McpRequest, ctx: ServerContext) => unknown;

/**
 * Enters the handler with its plaintext state and its answers, and seals what it returns.
 *
 * @throws the handler's error, or the rejection of state that does not fit the handler's schema.
 */
export function serve(call: AdmittedCall, handler: Handler) {
  const { id, method, target, round, pseudonym } = call;
  const { ctx, opened, request, token } = call.facts;
  const traceparent = traceparentOf(ctx);
  const signal = new HandlerSignal(ctx.mcpReq.signal);
  const about = { call: id, method, target, round };
  return publishAround({ phase: 'start', ...about, pseudonym, traceparent }, async () => {
    let outcome: Outcome = 'error';
    if (opened) {
      const bytes = token?.length ?? 0;
      publish('mrtr:state', { phase: 'opened', method, target, bytes, call: id });
    }
    try {
      const returned = await handler(request, contextOf(call, signal));
      if (call.misfit) throw call.misfit;
      const result = isInputRequiredResult(returned) ? sendQuestions(call, returned) : returned;
      outcome = outcomeOf(result, call);
      if (outcome === 'input_required') reportIgnored(call, result as InputRequiredResult);
      return result;
    } catch (error) {
      // The SDK turns an error that a tool throws into a result, and a handler may catch it.
      throw call.misfit ?? error;
    } finally {
      // An old client's request stays open while the shim asks, and can still be cancelled.
      if (isModern(call.revision)) signal.end();
      reportGivenUp(call);
      publish('mrtr:round', { phase: 'end', ...about, outcome });
    }
  });
}

function stampAnswers(call: AdmittedCall, responses: Members) {
  const { opened } = call.facts;
  const answers = Object.entries(responses).filter(([, response]) => !(response instanceof NoHandler));
  const stamped = answers.map(([key, response]) => [
    key,
    stampAnswer(response, () =>
      call.stamp(key, opened && secondsOf(opened.issuedAt), opened?.asked.get(key)),
    ),
  ]);
  return Object.fromEntries(stamped) as InputResponses;
}

const SIGNAL = Symbol('mrtr.signal');

/** Made on first read, because few handlers read it. */
const SIGNAL_MEMBER = sharedGetter((mcpReq: { readonly [SIGNAL]: HandlerSignal }) => mcpReq[SIGNAL].signal);

function contextOf(call: AdmittedCall, handlerSignal: HandlerSignal) {
  const { ctx, opened } = call.facts;
  const { signal: _sdkSignal, ...rest } = ctx.mcpReq;
  const requestState = <T>() => opened?.payload as T | undefined;
  const own = Object.assign(rest, { requestState, [SIGNAL]: handlerSignal });
  const mcpReq: ServerContext['mcpReq'] = Object.defineProperty(own as never, 'signal', SIGNAL_MEMBER);
  if (call.answers !== undefined) {
    // A first request has no answers. Delete the member, because a handler may only check whether it is there.
    if (call.round === 1 && call.asked !== undefined) delete mcpReq.inputResponses;
    else mcpReq.inputResponses = stampAnswers(call, call.answers);
  }
  return withCall(ctx, call, mcpReq);
}

/** Publishes ignored answers, and reports a handler that ignores them. An `invalid` answer is the user's mistake. */
function reportIgnored(call: AdmittedCall, { inputRequests = {} }: InputRequiredResult) {
  const { id, method, target } = call;
  const ignored = ignoredAnswers(call, call.facts.ctx.mcpReq.inputResponses, inputRequests);
  for (const answer of ignored) publish('mrtr:answer', { call: id, method, target, ...answer });
  const mistakes = ignored.filter(({ reason }) => reason !== 'invalid');
  const [first] = mistakes;
  const isFirstReport = mistakes.every(({ times }) => times === 2);
  if (first && isFirstReport) call.report(new AnswerIgnored(first.key, describeIgnored(first)));
}

/** Tells the operator, once per call, that a question is not asked again because its answers did not fit. */
function reportGivenUp(call: AdmittedCall) {
  const { givenUp } = call.reads;
  if (!givenUp || call.facts.opened?.hasGivenUp) return;
  const [key, { fields }] = givenUp;
  const form = fields ? `its form (${fields})` : 'it';
  const message = `No answer to '${key}' fitted ${form}, so it is not asked again. Its client may not be able to show it.`;
  call.report(new OperatorWarning('answers_unfit', message));
}

/** The outcome of a round. Undeclared questions count as an error, because the SDK rejects them. */
function outcomeOf(result: unknown, call: AdmittedCall) {
  if (!isInputRequiredResult(result)) return isErrorResult(result) ? 'error' : 'complete';
  return lackedKinds(result.inputRequests ?? {}, call.askable).length > 0 ? 'error' : 'input_required';
}

function traceparentOf(ctx: ServerContext) {
  const traceparent: unknown = ctx.mcpReq._meta?.[TRACEPARENT_META_KEY];
  return typeof traceparent === 'string' ? traceparent : undefined;
}
