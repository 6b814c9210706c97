/** Serves an admitted call: runs its handler with the opened state, and seals the questions that it returns. */
import {
  type InputRequests,
  type InputRequiredResult,
  type InputResponses,
  isInputRequiredResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type ServerContext,
  TRACEPARENT_META_KEY,
} from '@modelcontextprotocol/server';
import { publish, publishAround, type RoundEvent } from '../diagnostics/events.ts';
import { AnswerIgnored } from '../diagnostics/operator-warning.ts';
import { InvalidDefinition } from '../errors.ts';
import { onOldWire } from '../questions/form-choices.ts';
import { questionDigest } from '../questions/question.ts';
import { MAX_KEY_BYTES, sealState } from '../state/codec.ts';
import { stampAnswer } from '../wire/answer-stamp.ts';
import { isModern, MRTR_REVISION, withCall } from '../wire/call.ts';
import { capabilitiesOf } from '../wire/input-kind.ts';
import { markForShim, NoHandler } from '../wire/no-handler.ts';
import { endCall } from '../wire/results.ts';
import { askProblem, lackedKinds, needsAskable, STATE_NOT_KEPT, unaskableAfter } from './ask-problem.ts';
import { type AdmittedCall, type McpRequest, secondsOf } from './call.ts';
import { describeIgnored, ignoredAnswers, ownAnswers } from './incoming-answers.ts';
import { notesOf } from './shape-notes.ts';

type Outcome = NonNullable<RoundEvent['outcome']>;

/** A low-level handler: the author's, or `McpServer`'s. */
export type Handler = (request: McpRequest, ctx: ServerContext) => unknown;

/**
 * Enters the handler with its plaintext state and its answers, and seals what it returns.
 *
 * @throws the handler's error, or the rejection of state that does not fit the handler's schema.
 */
export function serve(call: AdmittedCall, handler: Handler): Promise<unknown> {
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
      const result = isInputRequiredResult(returned) ? sealResult(call, returned) : returned;
      outcome = outcomeOf(result, call);
      if (outcome === 'input_required') reportIgnored(call, result as InputRequiredResult);
      return result;
    } catch (error) {
      // The SDK turns an error that a tool throws into a result, and a handler may catch it.
      throw call.misfit ?? error;
    } finally {
      // An old client's request stays open while the shim asks, and can still be cancelled.
      if (isModern(call.revision)) signal.end();
      publish('mrtr:round', { phase: 'end', ...about, outcome });
    }
  });
}

function stampAnswers(call: AdmittedCall, responses: Readonly<Record<string, unknown>>): InputResponses {
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

function contextOf(call: AdmittedCall, handlerSignal: HandlerSignal): ServerContext {
  const { ctx, opened } = call.facts;
  const mcpReq = {
    ...ctx.mcpReq,
    requestState: <T>() => opened?.payload as T | undefined,
    get signal() {
      return handlerSignal.signal;
    },
  };
  const { inputResponses } = mcpReq;
  if (inputResponses !== undefined) {
    // A first request has no answers. Delete the member, because a handler may only check whether it is there.
    if (call.round === 1 && call.asked !== undefined) delete mcpReq.inputResponses;
    else mcpReq.inputResponses = stampAnswers(call, ownAnswers(inputResponses, call.asked));
  }
  return withCall(ctx, call, mcpReq);
}

/** Publishes ignored answers, and reports a handler that ignores them. An `invalid` answer is the user's mistake. */
function reportIgnored(call: AdmittedCall, { inputRequests = {} }: InputRequiredResult): void {
  const { id, method, target } = call;
  const ignored = ignoredAnswers(call, call.facts.ctx.mcpReq.inputResponses, inputRequests);
  for (const answer of ignored) publish('mrtr:answer', { call: id, method, target, ...answer });
  const mistakes = ignored.filter(({ reason }) => reason !== 'invalid');
  const [first] = mistakes;
  const isFirstReport = mistakes.every(({ times }) => times === 2);
  if (first && isFirstReport) call.report(new AnswerIgnored(first.key, describeIgnored(first)));
}

function sealResult(call: AdmittedCall, result: InputRequiredResult): unknown {
  try {
    return ask(call, result, result.inputRequests ?? {});
  } catch (error) {
    // An author's mistake, for example a label that a token cannot carry. The client must not read the message.
    if (error instanceof ProtocolError) throw error;
    return rejectQuestion(call, error);
  }
}

/** Ends the call if the questions may not go out. Otherwise returns the result with sealed state. */
function ask(call: AdmittedCall, result: InputRequiredResult, requests: InputRequests): unknown {
  const isOld = !isModern(call.revision);
  const { routingLabel, effects = [], lacked } = notesOf(result);
  if (lacked) {
    if (isOld) return endCall(call, needsAskable(lacked));
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: capabilitiesOf(lacked) });
  }
  const { requestState } = result;
  if (requestState === undefined && Object.keys(requests).length === 0) {
    return rejectQuestion(call, new InvalidDefinition(NO_QUESTION), ASKS_NOTHING);
  }
  requireSealable(requestState, requests);
  const problem = askProblem(call, requests, { requestState, routingLabel });
  if (problem?.kind === 'rounds') {
    call.facts.rejections.count({ reason: 'author', detail: 'rounds_exceeded' }, call);
    return endCall(call, problem.message);
  }
  if (problem?.cause) return rejectQuestion(call, problem.cause, problem.message);
  const wasted = problem && unaskableAfter(effects, requests, call);
  if (wasted) call.report(wasted);
  if (isOld && problem) return endCall(call, problem.message);
  if (isOld && call.legacy === 'degrade') return endCall(call, NEEDS_MODERN);
  const sealed = {
    ...result,
    ...(result.inputRequests && isOld && { inputRequests: inOldSpelling(requests) }),
    requestState: seal(call, requestState, requests, routingLabel),
  };
  // On 2026-07-28 the SDK rejects undeclared questions with -32021 and the missing capabilities. Seal the state anyway,
  // in case the SDK reads the capabilities differently and lets it out.
  if (problem) return sealed;
  publish('mrtr:ask', { call: call.id, target: call.target, keys: Object.keys(requests), live: false });
  return sealed;
}

function seal(
  call: AdmittedCall,
  payload: string | undefined,
  requests: InputRequests,
  routingLabel: string | undefined,
): string {
  const { id: callId, method, target, round, version } = call;
  const asked = new Map<string, string>();
  const timesAsked = new Map<string, number>();
  for (const [key, request] of Object.entries(requests)) {
    asked.set(key, questionDigest(request));
    timesAsked.set(key, (call.timesAsked.get(key) ?? 0) + 1);
  }
  const content = { callId, round, asked, timesAsked, payload, version };
  const { binding, policy } = call.facts;
  const { now, ttlSeconds, keys } = policy;
  const token = sealState(content, { binding, issuedAt: now(), ttlSeconds, routingLabel }, keys.ring[0]);
  publish('mrtr:state', { phase: 'sealed', method, target, bytes: token.length, call: callId });
  return token;
}

const rejectQuestion = (call: AdmittedCall, cause: unknown, why = STATE_NOT_KEPT): never =>
  call.facts.rejections.rejectRequest({ reason: 'author', detail: 'invalid_question' }, call, cause, why);

const inOldSpelling = (requests: InputRequests): InputRequests =>
  Object.fromEntries(
    Object.entries(requests).map(([key, request]) => [key, markForShim(onOldWire(request))]),
  );

/** @throws InvalidDefinition for state or questions that a token cannot carry. */
function requireSealable(requestState: unknown, requests: InputRequests): void {
  if (requestState !== undefined && (typeof requestState !== 'string' || !requestState.isWellFormed())) {
    throw new InvalidDefinition('requestState has to be well-formed text. Return JSON.stringify(...) of it.');
  }
  for (const [key, request] of Object.entries(requests)) {
    if (typeof request !== 'object' || request === null) {
      throw new InvalidDefinition(
        `'${key}' is not an input request. Return ask({ … }) instead of building the result by hand.`,
      );
    }
    if (!key.isWellFormed() || Buffer.byteLength(key) > MAX_KEY_BYTES) {
      throw new InvalidDefinition(
        `A question's key has to be well-formed text of at most ${MAX_KEY_BYTES} bytes.`,
      );
    }
  }
}

/** The outcome of a round. Undeclared questions count as an error, because the SDK rejects them. */
function outcomeOf(result: unknown, call: AdmittedCall): Outcome {
  if (!isInputRequiredResult(result)) return 'complete';
  return lackedKinds(result.inputRequests ?? {}, call.askable).length > 0 ? 'error' : 'input_required';
}

const NEEDS_MODERN = `This needs a client that makes several rounds (MCP ${MRTR_REVISION}).`;
const ASKS_NOTHING = 'The server asks nothing';
const NO_QUESTION =
  'A result is input_required, but has no question and no state. Return ask({ … }), or a complete result.';

function traceparentOf(ctx: ServerContext): string | undefined {
  const traceparent: unknown = ctx.mcpReq._meta?.[TRACEPARENT_META_KEY];
  return typeof traceparent === 'string' ? traceparent : undefined;
}

/**
 * Follows the SDK's signal until the handler has ended. On 2026-07-28 the SDK also fires a request's signal after its
 * response: a listener that undoes a payment would then undo a completed one.
 */
class HandlerSignal {
  readonly #sdkSignal: AbortSignal;
  readonly #abort = () => this.#controller?.abort(this.#sdkSignal.reason);
  #controller: AbortController | undefined;
  /** Whether the SDK's signal had fired when the handler ended. */
  #abortedAtEnd: boolean | undefined;

  constructor(sdkSignal: AbortSignal) {
    this.#sdkSignal = sdkSignal;
  }

  /** Fires when the request is cancelled while its handler runs. Created on first read: few handlers read it. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#abortedAtEnd ?? this.#sdkSignal.aborted) this.#abort();
      else if (this.#abortedAtEnd === undefined)
        this.#sdkSignal.addEventListener('abort', this.#abort, { once: true });
    }
    return this.#controller.signal;
  }

  /** Stops following: the handler has ended. */
  end(): void {
    this.#abortedAtEnd = this.#sdkSignal.aborted;
    this.#sdkSignal.removeEventListener('abort', this.#abort);
  }
}
