/** Serves one round: runs the handler with its opened state, and seals the questions that it returns. */
import { hash } from 'node:crypto';
import type {
  InputRequests,
  InputRequiredResult,
  InputResponses,
  McpServer,
  ServerContext,
} from '@modelcontextprotocol/server';
import {
  isInputRequiredResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  TRACEPARENT_META_KEY,
} from '@modelcontextprotocol/server';
import { publish, publishAround } from '../diagnostics/diagnostics.ts';
import { declaredInEnvelope } from '../questions/can-ask.ts';
import { onOldWire } from '../questions/old-wire.ts';
import { questionDigest } from '../questions/question.ts';
import { derivePseudonym } from '../state/at-rest.ts';
import { type Binding, canonicalArguments } from '../state/binding.ts';
import { freshCallId, MAX_KEY_BYTES, type OpenedState, sealState } from '../state/codec.ts';
import type { SealingKey } from '../state/key-ring.ts';
import { invalidLabelError } from '../state/routing-label.ts';
import { InvalidDefinition, StateTooLarge, TooManyQuestions } from '../support/errors.ts';
import type { LoggedCall } from '../support/log-line.ts';
import { AnswerIgnored } from '../support/operator-warning.ts';
import { AnswerReads } from '../wire/answer-reads.ts';
import { type AnswerStamp, stampAnswer } from '../wire/answer-stamp.ts';
import { type Call, withCall } from '../wire/call.ts';
import { capabilitiesOf, declaredKinds, type InputKind, inputKindOf } from '../wire/input-kind.ts';
import { handledKinds, markForShim, NoHandler } from '../wire/no-handler.ts';
import { endCall } from '../wire/results.ts';
import { isModern, MRTR_REVISION } from '../wire/revision.ts';
import { type HandlerRun, withHandlerRun } from './handler-run.ts';
import { describeIgnored, ignoredAnswers, ownAnswers } from './incoming-answers.ts';
import { type AskProblem, askProblem, needsAskable, STATE_NOT_KEPT, unaskableAfter } from './limits.ts';
import type { PolicyParts } from './policy.ts';
import type { Rejections } from './rejections.ts';
import { notesOf } from './shape-callback.ts';

/** A request as the SDK hands it to a low-level handler. */
export type McpRequest = { readonly params?: Readonly<Record<string, unknown>> | undefined };
/** A low-level handler: the author's, or `McpServer`'s. */
export type Handler = (request: McpRequest, ctx: ServerContext) => unknown;

/** An admitted request. */
export interface Round {
  readonly request: McpRequest;
  readonly ctx: ServerContext;
  readonly binding: Binding;
  /** The caller's pseudonym; undefined for an anonymous caller. */
  readonly pseudonym: string | undefined;
  /** The request's opened state; undefined in the first round. */
  readonly opened: OpenedState | undefined;
}

/** The parts that all rounds of one server share. */
export interface Boundary {
  readonly server: McpServer;
  readonly policy: PolicyParts;
  readonly rejections: Rejections;
}

/** Serves one round. */
export class Serving {
  readonly #boundary: Boundary;
  readonly #round: Round;
  readonly #call: Call;
  /** The refusal of state that does not fit the handler's schema, if any. */
  #misfit: unknown;
  #argumentsDigest: string | undefined;

  constructor(boundary: Boundary, round: Round) {
    this.#boundary = boundary;
    this.#round = round;
    this.#call = this.#record();
  }

  /**
   * Enters the handler with its plaintext state and its answers, and seals what it returns.
   *
   * @param run records what happened to the author's handler.
   * @throws the handler's error, or the refusal of state that does not fit the handler's schema.
   */
  serve(handler: Handler, run: HandlerRun): Promise<unknown> {
    const { request, ctx, opened } = this.#round;
    const { id, method, target, round, pseudonym } = this.#call;
    const traceparent = traceparentOf(ctx);
    const signal = new HandlerSignal(ctx.mcpReq.signal);
    const about = { call: id, method, target, round };
    return publishAround({ phase: 'start', ...about, pseudonym, traceparent }, async () => {
      let outcome: 'input_required' | 'complete' | 'error' = 'error';
      if (opened) {
        const bytes = ctx.mcpReq.requestState<string>()?.length ?? 0;
        publish('mrtr:state', { phase: 'opened', method, target, bytes, call: id });
      }
      try {
        const returned = await handler(request, withHandlerRun(this.#context(signal), run));
        if (this.#misfit) throw this.#misfit;
        const result = isInputRequiredResult(returned) ? this.#sealResult(returned) : returned;
        outcome = outcomeOf(result, this.#call);
        if (outcome === 'input_required') this.#reportIgnored(result as InputRequiredResult);
        return result;
      } catch (error) {
        // The SDK turns an error that a tool throws into a result, and a handler may catch it.
        throw this.#misfit ?? error;
      } finally {
        // An old client's request stays open while the shim asks, and can still be cancelled.
        if (isModern(this.#call.revision)) signal.end();
        publish('mrtr:round', { phase: 'end', ...about, outcome });
      }
    });
  }

  #record(): Call {
    const { server, policy } = this.#boundary;
    const { binding, ctx, opened, pseudonym } = this.#round;
    // Read from the server instance: an old client could write anything into the request's envelope.
    const revision = server.server.getNegotiatedProtocolVersion();
    const legacyCapabilities = isModern(revision) ? undefined : server.server.getClientCapabilities();
    const askableWhenOld = policy.legacy === 'shim' ? legacyCapabilities : undefined;
    return {
      id: opened?.callId ?? freshCallId(),
      method: binding.method,
      target: binding.target,
      revision,
      legacyCapabilities,
      legacy: policy.legacy,
      pseudonym,
      audience: binding.audience,
      isPseudonym: (text) => policy.keys.ring.some((key) => callerPseudonym(binding, key) === text),
      round: (opened?.round ?? 0) + 1,
      timesAsked: opened?.timesAsked ?? NOTHING_ASKED,
      rejectState: (why) => this.#rejectMisfit(why),
      report: (error) => this.#boundary.rejections.report(error, this.#about),
      reads: new AnswerReads(),
      stamp: (key, askedAt) => this.#stamp(key, askedAt),
      asked: acceptsUnasked(policy, binding.target) ? undefined : (opened?.asked ?? NOTHING_ASKED),
      askable: isModern(revision)
        ? declaredInEnvelope(ctx)
        : handledKinds(declaredKinds(askableWhenOld), ctx),
      maxRounds: policy.maxRounds,
      maxQuestions: policy.maxQuestions,
      maxStateBytes: policy.maxBytes,
      version: policy.versions.of(binding.target),
    };
  }

  #stamp(key: string, askedAt?: number): AnswerStamp {
    const { id: call, target, pseudonym } = this.#call;
    // Hash once for all answers of the round: arguments may be large.
    this.#argumentsDigest ??= hash('sha256', canonicalArguments(this.#round.binding), 'base64url');
    const argumentsDigest = this.#argumentsDigest;
    const answeredAt = secondsOf(this.#boundary.policy.now());
    return { call, key, target, argumentsDigest, pseudonym, askedAt: askedAt ?? answeredAt, answeredAt };
  }

  #stampAnswers(responses: Readonly<Record<string, unknown>>): InputResponses {
    const { opened } = this.#round;
    const answers = Object.entries(responses).filter(([, response]) => !(response instanceof NoHandler));
    const stamped = answers.map(([key, response]) => {
      const stamp = () => ({
        ...this.#stamp(key, opened && secondsOf(opened.issuedAt)),
        asked: opened?.asked.get(key),
      });
      return [key, stampAnswer(response, stamp)];
    });
    return Object.fromEntries(stamped) as InputResponses;
  }

  #rejectMisfit(why: string): never {
    const { ctx } = this.#round;
    try {
      return this.#boundary.rejections.rejectState(
        this.#about,
        ctx.mcpReq.requestState<string>(),
        'other_schema',
        why,
      );
    } catch (error) {
      this.#misfit ??= error;
      throw error;
    }
  }

  #context(handlerSignal: HandlerSignal): ServerContext {
    const { ctx, opened } = this.#round;
    const call = this.#call;
    const mcpReq = {
      ...ctx.mcpReq,
      requestState: <T>() => opened?.payload as T | undefined,
      get signal() {
        return handlerSignal.signal;
      },
    };
    const { inputResponses } = mcpReq;
    if (inputResponses === undefined) return withCall(ctx, call, mcpReq);
    // A first request has no answers. Delete the member, because a handler may only check whether it is there.
    if (call.round === 1 && call.asked !== undefined) delete mcpReq.inputResponses;
    else mcpReq.inputResponses = this.#stampAnswers(ownAnswers(inputResponses, call.asked));
    return withCall(ctx, call, mcpReq);
  }

  /** Publishes ignored answers, and reports a handler that ignores them. An `invalid` answer is the user's mistake. */
  #reportIgnored({ inputRequests = {} }: InputRequiredResult): void {
    const { id, method, target } = this.#call;
    const ignored = ignoredAnswers(this.#call, this.#round.ctx.mcpReq.inputResponses, inputRequests);
    for (const answer of ignored) publish('mrtr:answer', { call: id, method, target, ...answer });
    const mistakes = ignored.filter(({ reason }) => reason !== 'invalid');
    const [first] = mistakes;
    const isFirstReport = mistakes.every(({ times }) => times === 2);
    if (first && isFirstReport) {
      this.#boundary.rejections.report(new AnswerIgnored(first.key, describeIgnored(first)), this.#about);
    }
  }

  #sealResult(result: InputRequiredResult): unknown {
    try {
      return this.#ask(result, result.inputRequests ?? {});
    } catch (error) {
      // An author's mistake, for example a label that a token cannot carry. The client must not read the message.
      if (error instanceof ProtocolError) throw error;
      return this.#refuse(error);
    }
  }

  /** Ends the call if the questions may not go out. Otherwise returns the result with sealed state. */
  #ask(result: InputRequiredResult, requests: InputRequests): unknown {
    const { routingLabel, effects = [], lacked } = notesOf(result);
    if (lacked) return this.#refuseUnaskable(lacked);
    const { requestState } = result;
    if (requestState === undefined && Object.keys(requests).length === 0) {
      return this.#refuse(new InvalidDefinition(NO_QUESTION), ASKS_NOTHING);
    }
    requireSealable(requestState, requests);
    const call = this.#call;
    const problem = askProblem(call, requests, { requestState, routingLabel });
    if (problem && problem.kind !== 'unaskable') return this.#refuseToAsk(problem);
    const wasted = problem && unaskableAfter(effects, requests, call);
    if (wasted) this.#boundary.rejections.report(wasted, this.#about);
    const isOld = !isModern(call.revision);
    if (isOld && problem) return endCall(call, problem.message);
    if (isOld && call.legacy === 'degrade') return endCall(call, NEEDS_MODERN);
    const sealed = {
      ...result,
      ...(result.inputRequests && isOld && { inputRequests: inOldSpelling(requests) }),
      requestState: this.#seal(requestState, requests, routingLabel),
    };
    // On 2026-07-28 the SDK refuses undeclared questions with -32021 and the missing capabilities. Seal the state anyway,
    // in case the SDK reads the capabilities differently and lets it out.
    if (problem) return sealed;
    publish('mrtr:ask', { call: call.id, target: call.target, keys: Object.keys(requests), live: false });
    return sealed;
  }

  #refuseUnaskable(kinds: readonly InputKind[]): unknown {
    if (!isModern(this.#call.revision)) return endCall(this.#call, needsAskable(kinds));
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: capabilitiesOf(kinds) });
  }

  #refuseToAsk(problem: Exclude<AskProblem, { kind: 'unaskable' }>): unknown {
    const call = this.#call;
    switch (problem.kind) {
      case 'rounds':
        this.#boundary.rejections.count('rounds_exceeded', this.#about);
        return endCall(call, problem.message);
      case 'questions':
        return this.#refuse(new TooManyQuestions(problem.count, call.maxQuestions), problem.message);
      case 'size':
        return this.#refuse(new StateTooLarge(problem.bytes, call.maxStateBytes), problem.message);
      case 'label':
        return this.#refuse(invalidLabelError(), problem.message);
    }
  }

  #seal(payload: string | undefined, requests: InputRequests, routingLabel: string | undefined): string {
    const { binding } = this.#round;
    const { id: callId, round, version, timesAsked: before } = this.#call;
    const asked = new Map<string, string>();
    const timesAsked = new Map<string, number>();
    for (const [key, request] of Object.entries(requests)) {
      asked.set(key, questionDigest(request));
      timesAsked.set(key, (before.get(key) ?? 0) + 1);
    }
    const content = { callId, round, asked, timesAsked, payload, version };
    const { now, ttlSeconds, keys } = this.#boundary.policy;
    const token = sealState(content, { binding, issuedAt: now(), ttlSeconds, routingLabel }, keys.ring[0]);
    const { method, target } = binding;
    publish('mrtr:state', { phase: 'sealed', method, target, bytes: token.length, call: callId });
    return token;
  }

  #refuse(cause: unknown, why = STATE_NOT_KEPT): never {
    return this.#boundary.rejections.rejectRequest('invalid_question', this.#about, cause, why);
  }

  get #about(): LoggedCall {
    const { method, target, id, pseudonym } = this.#call;
    return { method, target, call: id, pseudonym };
  }
}

/** The caller's pseudonym: a keyed digest that all instances share. */
export const callerPseudonym = ({ principal }: Binding, key: SealingKey): string | undefined =>
  principal === undefined ? undefined : derivePseudonym(principal, key);

/** Whether the policy accepts answers to questions that were not asked. */
export const acceptsUnasked = ({ unaskedAnswers }: PolicyParts, target: string): boolean =>
  typeof unaskedAnswers === 'string' ? unaskedAnswers === 'accept' : unaskedAnswers.accept.includes(target);

const inOldSpelling = (requests: InputRequests): InputRequests =>
  Object.fromEntries(
    Object.entries(requests).map(([key, request]) => [key, markForShim(onOldWire(request))]),
  );

const secondsOf = (ms: number): number => Math.floor(ms / 1000);

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

/** The outcome of a round. Undeclared questions count as an error, because the SDK refuses them. */
function outcomeOf(result: unknown, call: Call): 'input_required' | 'complete' | 'error' {
  if (!isInputRequiredResult(result)) return 'complete';
  const kinds = Object.values(result.inputRequests ?? {}).map(inputKindOf);
  return kinds.every((kind) => !kind || call.askable.includes(kind)) ? 'input_required' : 'error';
}

const NEEDS_MODERN = `This needs a client that makes several rounds (MCP ${MRTR_REVISION}).`;
const ASKS_NOTHING = 'The server asks nothing';
const NO_QUESTION =
  'A result is input_required, but has no question and no state. Return ask({ … }), or a complete result.';
const NOTHING_ASKED = new Map<string, never>();

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
