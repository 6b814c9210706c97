/**
 * The one place that opens and seals request state. It stands between the SDK's own seam and the handlers, so it also
 * serves the SDK's legacy shim, and no author ever holds a token.
 *
 * @see MCP 2026-07-28, basic/patterns/mrtr, server requirements
 */
import { hash } from 'node:crypto';
import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import {
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  TRACEPARENT_META_KEY,
} from '@modelcontextprotocol/server';
import { AnswerReads } from '../answer-reads.ts';
import { type Call, withCall } from '../call.ts';
import { declaredInEnvelope } from '../can-ask.ts';
import { publish, publishAround } from '../diagnostics.ts';
import { AnswerIgnored, InvalidPolicy, StateTooLarge, StoreFull, TooManyQuestions } from '../errors.ts';
import { declaredKinds, kindOf } from '../input-kind.ts';
import { type AskProblem, askProblem, UNKEPT } from '../limits.ts';
import { warnOnce } from '../process-wide.ts';
import { questionDigest } from '../question.ts';
import type { QuotaExceeded } from '../quota.ts';
import { watchRegistration } from '../registration.ts';
import { endCall } from '../results.ts';
import { isModern, MRTR_REVISION } from '../revision.ts';
import { routingLabelOf } from '../shape-callback.ts';
import {
  type InputRequests,
  type InputRequiredResult,
  isMrtrMethod,
  MRTR_METHODS,
  type MrtrMethod,
} from '../wire.ts';
import { answersFit, ownAnswers } from './answers.ts';
import { pseudonym } from './at-rest.ts';
import { type Binding, canonicalArguments } from './binding.ts';
import { canonicalJson, MAX_DEPTH } from './canonical-json.ts';
import {
  freshCallId,
  MAX_KEY_BYTES,
  type Opened,
  type OpenedState,
  openState,
  type RejectionReason,
  sealState,
} from './codec.ts';
import { ignoredAnswers, ignoredInWords } from './ignored-answers.ts';
import type { SealingKey } from './key-ring.ts';
import type { RequestStatePolicy } from './policy.ts';
import { invalidLabel } from './routing-label.ts';
import { noteHandler } from './serving.ts';
import { LedgerFailed, type SingleUsePolicy, serveOnce, type UsedReason } from './single-use.ts';

type Request = { readonly params?: Readonly<Record<string, unknown>> | undefined };
type Handler = (request: Request, ctx: ServerContext) => unknown;
type Round = { readonly binding: Binding; readonly opened: OpenedState | undefined };
/** The error with which the state of a request was refused after it was opened, if it was. */
type Misfit = { error?: unknown };
type Sealing = { readonly binding: Binding; readonly call: Call; readonly routingLabel: string | undefined };
type SetRequestHandler = (method: string, ...rest: unknown[]) => void;

/**
 * Protects the request state of everything that you register on `server` from now on.
 *
 * On the way in, a token is opened and checked against its request, answers to questions that were not asked are
 * dropped, and the handler reads its own plaintext from `ctx.mcpReq.requestState()`. On the way out, the `requestState`
 * of an `input_required` result is sealed, together with the questions. Any failure answers the frozen
 * `-32602 Invalid or expired requestState`; the true reason goes to the `mrtr:state` channel and the server's
 * `onerror`.
 *
 * State of another `version` of the policy is refused in the same way, and so is state that the handler finds not to fit
 * (`readState`).
 *
 * `protectedServer` does this for a new server in one step.
 *
 * @throws InvalidPolicy when handlers were registered before (those would not be protected), and when the policy has
 * no audience.
 * @example
 * const server = new McpServer({ name: 'shop', version: '1.0.0' });
 * protectRequestState(server, requestStatePolicy({ keys: [process.env.STATE_KEY], audience: 'shop' }));
 */
export function protectRequestState(server: McpServer, policy: RequestStatePolicy): void {
  const low = server.server;
  for (const method of MRTR_METHODS) {
    try {
      low.assertCanSetRequestHandler(method);
    } catch (cause) {
      throw new InvalidPolicy(
        `${method} already has a handler. Call protectRequestState on the new McpServer, before you register ` +
          'anything, and leave its capabilities to be inferred: declaring them installs handlers at once.',
        { cause },
      );
    }
  }
  if (policy.audience === undefined) {
    throw new InvalidPolicy(
      'The policy names no audience, and a built McpServer does not tell its name. Set `audience`, or let ' +
        'protectedServer(info, policy) build the server.',
    );
  }
  const boundary = new Boundary(server, policy, policy.audience);
  const setRequestHandler = low.setRequestHandler.bind(low) as SetRequestHandler;
  low.setRequestHandler = ((method: string, ...rest: unknown[]) => {
    if (!isMrtrMethod(method)) return setRequestHandler(method, ...rest);
    if (rest.length > 1) {
      // The SDK gives such a handler the parsed params and not the request: nothing to bind state to.
      throw new InvalidPolicy(
        `${method} cannot be protected with schemas of its own. Register it as setRequestHandler('${method}', handler).`,
      );
    }
    return setRequestHandler(method, boundary.around(method, rest[0] as Handler));
  }) as typeof low.setRequestHandler;
  watchRegistration(server);
}

class Boundary {
  readonly #server: McpServer;
  readonly #policy: RequestStatePolicy;
  readonly #audience: string;

  constructor(server: McpServer, policy: RequestStatePolicy, audience: string) {
    this.#server = server;
    this.#policy = policy;
    this.#audience = audience;
  }

  around(method: MrtrMethod, handler: Handler): Handler {
    const serve = async (request: Request, ctx: ServerContext) => {
      if (this.#firstKey().ephemeral && ctx.http?.req) warnOfEphemeralKey();
      const claimed = this.#binding(method, request, await this.#principal(ctx));
      this.#checkAnswers(claimed, ctx);
      const opened = this.#open(claimed, ctx);
      const binding = opened ? claimed : this.#digestible(claimed);
      const enter = () => this.#serve(handler, request, ctx, { binding, opened });
      return opened && this.#policy.singleUse ? this.#once(enter, opened, binding, ctx) : enter();
    };
    return (request, ctx) => {
      const settled = serve(request, ctx);
      if (ctx.http?.req) noteHandler(ctx.http.req, settled);
      return settled;
    };
  }

  #serve(
    handler: Handler,
    request: Request,
    ctx: ServerContext,
    { binding, opened }: Round,
  ): Promise<unknown> {
    const misfit: Misfit = {};
    const call = this.#call(binding, opened, ctx, misfit);
    const { id, method, target, principal, round } = call;
    const traceparent = traceparentOf(ctx);
    const { running } = this.#policy;
    const full = running.take(principal);
    if (full) throw tooManyCalls(full);
    return publishAround({ phase: 'start', call: id, method, target, round, traceparent }, async () => {
      let outcome: 'input_required' | 'complete' | 'error' = 'error';
      if (opened) {
        const bytes = ctx.mcpReq.requestState<string>()?.length ?? 0;
        publish('mrtr:state', { phase: 'opened', method, target, bytes, call: id });
      }
      try {
        const returned = await handler(request, this.#context(ctx, call, opened?.payload));
        if (misfit.error) throw misfit.error;
        const result = isInputRequiredResult(returned) ? this.#outbound(returned, binding, call) : returned;
        outcome = outcomeOf(result, call);
        if (outcome === 'input_required') this.#reportIgnored(result as InputRequiredResult, call, ctx);
        return result;
      } catch (error) {
        // The SDK makes a result of what a tool throws, and a handler may catch it.
        throw misfit.error ?? error;
      } finally {
        // Here and not when the client cancels: a handler that still runs still counts.
        running.give(principal);
        publish('mrtr:round', { phase: 'end', call: id, method, target, round, outcome });
      }
    });
  }

  async #once(serve: () => Promise<unknown>, opened: OpenedState, binding: Binding, ctx: ServerContext) {
    const presentation = {
      opened,
      answers: digestOf(ownAnswers(ctx.mcpReq.inputResponses ?? {}, opened.asked)),
      principal: this.#pseudonym(binding),
      ring: this.#policy.ring,
      now: this.#policy.now,
      signal: ctx.mcpReq.signal,
      report: (error: unknown) => this.#report(asError(error)),
    };
    const policy = this.#policy.singleUse as SingleUsePolicy;
    const once = await serveOnce(policy, presentation, serve).catch((error: unknown) => {
      throw error instanceof LedgerFailed ? this.#ledgerFailed(asError(error.cause)) : error;
    });
    if ('rejected' in once)
      return this.#reject(binding, ctx.mcpReq.requestState<string>() ?? '', once.rejected);
    if ('tooLarge' in once) return endCall(binding, 'This step was done. Its result is too large to repeat.');
    const { method, target } = binding;
    if (once.replayed) {
      publish('mrtr:state', { phase: 'replayed', method, target, bytes: 0, call: opened.callId });
    }
    return once.result;
  }

  /** The message of a full ledger is ours, and safe for the client. Any other message may name hosts. */
  #ledgerFailed(cause: Error): never {
    if (cause instanceof StoreFull) return this.#refuse(cause, cause.message);
    return this.#refuse(cause);
  }

  #binding(method: MrtrMethod, request: Request, principal: string | undefined): Binding {
    const params = request.params ?? {};
    return {
      method,
      target: String(method === 'resources/read' ? params.uri : params.name),
      arguments: params.arguments,
      audience: this.#audience,
      principal,
    };
  }

  /** An error of the policy's callback may name hosts, so it stays inside. */
  async #principal(ctx: ServerContext): Promise<string | undefined> {
    let principal: unknown;
    try {
      principal = await this.#policy.principal(ctx);
    } catch (error) {
      return this.#refuse(asError(error), INTERNAL);
    }
    if (principal === undefined || typeof principal === 'string') return principal;
    const why = `The policy's principal gave a value of type ${typeof principal}. It must give a string, or undefined.`;
    return this.#refuse(new InvalidPolicy(why), INTERNAL);
  }

  // Refuse the request and do not drop the answer: asked again, the user would give the same answer and never learn why
  // it does not count. Check this before the ledger, so that a shorter answer with the same state is still the first.
  #checkAnswers({ method, target }: Binding, ctx: ServerContext): void {
    const limit = this.#policy.maxAnswerBytes;
    if (answersFit(ctx.mcpReq.inputResponses, limit)) return;
    const expected = `An answer has to be JSON of at most ${limit} bytes, nested at most ${MAX_DEPTH} levels deep`;
    this.#report(new Error(`An answer to ${method} ${target} was refused. ${expected}.`));
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, expected, { reason: 'answer_too_large' });
  }

  #open(binding: Binding, ctx: ServerContext): OpenedState | undefined {
    const token = ctx.mcpReq.requestState<string>();
    if (token === undefined) return undefined;
    const opened = this.#tryOpen(token, binding);
    return 'rejected' in opened ? this.#reject(binding, token, opened.rejected) : opened;
  }

  #reject({ method, target }: Binding, token: string, reason: RejectionReason | UsedReason, why = ''): never {
    publish('mrtr:state', { phase: 'rejected', method, target, bytes: token.length, reason });
    this.#report(new Error(`requestState of ${method} ${target} rejected: ${reason}${why && `: ${why}`}`));
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
      reason: 'invalid_request_state',
    });
  }

  #rejectMisfit(binding: Binding, ctx: ServerContext, why: string, misfit: Misfit): never {
    try {
      return this.#reject(binding, ctx.mcpReq.requestState<string>() ?? '', 'other_schema', why);
    } catch (error) {
      misfit.error ??= error;
      throw error;
    }
  }

  /**
   * For a first request: rejects arguments that cannot be hashed before the handler runs. Failing later, at sealing,
   * would repeat its effects as often as the client likes.
   */
  #digestible(binding: Binding): Binding {
    try {
      return { ...binding, canonicalArguments: canonicalArguments(binding) };
    } catch {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `The arguments hold a number that is not finite, or are nested deeper than ${MAX_DEPTH} levels`,
      );
    }
  }

  #tryOpen(token: string, binding: Binding): Opened {
    if (token.length > this.#policy.maxBytes) return { rejected: 'too_large' };
    try {
      const opened = openState(token, binding, this.#policy.now(), this.#policy.ring);
      if ('rejected' in opened || this.#policy.versions.accepts(binding.target, opened.version))
        return opened;
      return { rejected: 'other_version' };
    } catch (error) {
      // No token was ever sealed for arguments that cannot be hashed.
      if (error instanceof RangeError || error instanceof TypeError) return { rejected: 'other_arguments' };
      throw error;
    }
  }

  #call(binding: Binding, opened: OpenedState | undefined, ctx: ServerContext, misfit: Misfit): Call {
    // From the server instance and not from the request's envelope, where an old client could write anything.
    const low = this.#server.server;
    const revision = low.getNegotiatedProtocolVersion();
    const legacyCapabilities = isModern(revision) ? undefined : low.getClientCapabilities();
    const askableWhenOld = this.#policy.legacy === 'shim' ? legacyCapabilities : undefined;
    return {
      id: opened?.callId ?? freshCallId(),
      method: binding.method,
      target: binding.target,
      revision,
      legacyCapabilities,
      legacy: this.#policy.legacy,
      principal: this.#pseudonym(binding),
      isPrincipal: (name) => this.#policy.ring.some((key) => this.#pseudonym(binding, key) === name),
      round: (opened?.round ?? 0) + 1,
      timesAsked: opened?.timesAsked ?? NOTHING_ASKED,
      rejectState: (why) => this.#rejectMisfit(binding, ctx, why, misfit),
      reads: new AnswerReads(),
      asked: this.#acceptsUnasked(binding.target) ? undefined : (opened?.asked ?? NOTHING_ASKED),
      askable: isModern(revision) ? declaredInEnvelope(ctx) : declaredKinds(askableWhenOld),
      maxRounds: this.#policy.maxRounds,
      maxQuestions: this.#policy.maxQuestions,
      maxStateBytes: this.#policy.maxBytes,
      version: this.#policy.versions.of(binding.target),
    };
  }

  #pseudonym({ principal }: Binding, key = this.#firstKey()): string | undefined {
    return principal === undefined ? undefined : pseudonym(principal, key);
  }

  #acceptsUnasked(target: string): boolean {
    const { unaskedAnswers } = this.#policy;
    return typeof unaskedAnswers === 'string'
      ? unaskedAnswers === 'accept'
      : unaskedAnswers.accept.includes(target);
  }

  #context(ctx: ServerContext, call: Call, payload: string | undefined): ServerContext {
    const mcpReq = { ...ctx.mcpReq, requestState: <T>() => payload as T | undefined };
    const { inputResponses } = mcpReq;
    if (inputResponses === undefined) return withCall(ctx, call, mcpReq);
    // A first request has no answers, also for a handler that only checks whether there are any.
    if (call.round === 1 && call.asked !== undefined) delete mcpReq.inputResponses;
    else mcpReq.inputResponses = ownAnswers(inputResponses, call.asked);
    return withCall(ctx, call, mcpReq);
  }

  /** A user may learn from one ignored answer that it did not fit. From the second on, the handler is at fault. */
  #reportIgnored({ inputRequests = {} }: InputRequiredResult, call: Call, ctx: ServerContext): void {
    const { id, method, target } = call;
    const ignored = ignoredAnswers(call, ctx.mcpReq.inputResponses, inputRequests);
    for (const answer of ignored) publish('mrtr:answer', { call: id, method, target, ...answer });
    const mistakes = ignored.filter(({ reason }) => reason !== 'invalid');
    const [first] = mistakes;
    const isNews = mistakes.every(({ times }) => times === 2);
    if (first && isNews) {
      this.#report(new AnswerIgnored(`${method} ${target}`, first.key, ignoredInWords(first)));
    }
  }

  #outbound(result: InputRequiredResult, binding: Binding, call: Call): unknown {
    try {
      return this.#asking(result, result.inputRequests ?? {}, binding, call);
    } catch (error) {
      // The author's mistake, for example a label that a token cannot carry. Its words are not for the client.
      throw error instanceof ProtocolError ? error : this.#refuse(asError(error));
    }
  }

  #asking(result: InputRequiredResult, requests: InputRequests, binding: Binding, call: Call): unknown {
    const { requestState } = result;
    if (requestState !== undefined && (typeof requestState !== 'string' || !requestState.isWellFormed())) {
      this.#refuse(
        new TypeError('requestState has to be well-formed text. Return JSON.stringify(...) of it.'),
      );
    }
    if (!Object.keys(requests).every(isWritableKey)) {
      this.#refuse(
        new TypeError(`A question's key has to be well-formed text of at most ${MAX_KEY_BYTES} bytes.`),
      );
    }
    const routingLabel = routingLabelOf(result);
    const problem = askProblem(call, requests, { requestState, routingLabel });
    if (problem && problem.kind !== 'unaskable') return this.#problem(problem, call);
    if (!isModern(call.revision)) {
      if (problem) return endCall(call, problem.message);
      if (call.legacy === 'degrade') return endCall(call, NEEDS_MODERN);
    }
    const sealed = {
      ...result,
      requestState: this.#seal(requestState, requests, { binding, call, routingLabel }),
    };
    // On 2026-07-28 the SDK refuses what the client did not declare, with -32021 and the capabilities that are missing.
    // Seal the state all the same: it must not leave unsealed because two modules read capabilities differently.
    if (problem) return sealed;
    publish('mrtr:ask', { call: call.id, target: call.target, keys: Object.keys(requests), live: false });
    return sealed;
  }

  #problem(problem: Exclude<AskProblem, { kind: 'unaskable' }>, call: Call): unknown {
    switch (problem.kind) {
      case 'rounds':
        return endCall(call, problem.message);
      case 'questions':
        return this.#refuse(new TooManyQuestions(problem.count, call.maxQuestions), problem.message);
      case 'size':
        return this.#refuse(new StateTooLarge(problem.bytes, call.maxStateBytes), problem.message);
      case 'label':
        return this.#refuse(invalidLabel(), problem.message);
    }
  }

  #seal(
    payload: string | undefined,
    requests: InputRequests,
    { binding, call, routingLabel }: Sealing,
  ): string {
    const asked = new Map<string, string>();
    const timesAsked = new Map<string, number>();
    for (const [key, request] of Object.entries(requests)) {
      asked.set(key, questionDigest(request));
      timesAsked.set(key, (call.timesAsked.get(key) ?? 0) + 1);
    }
    const { id: callId, round, version } = call;
    const content = { callId, round, asked, timesAsked, payload, version };
    const { now, ttlSeconds } = this.#policy;
    const token = sealState(
      content,
      { binding, issuedAt: now(), ttlSeconds, routingLabel },
      this.#firstKey(),
    );
    const { method, target } = binding;
    publish('mrtr:state', { phase: 'sealed', method, target, bytes: token.length, call: call.id });
    return token;
  }

  #firstKey(): SealingKey {
    return this.#policy.ring[0] as SealingKey;
  }

  #report(error: Error): void {
    this.#server.server.onerror?.(error);
    this.#policy.onerror(error);
  }

  #refuse(cause: Error, why = UNKEPT): never {
    this.#report(cause);
    throw new ProtocolError(ProtocolErrorCode.InternalError, why);
  }
}

const isWritableKey = (key: string): boolean => key.isWellFormed() && Buffer.byteLength(key) <= MAX_KEY_BYTES;

/** The SDK refuses questions that the client did not declare, so a round that ends in them is an error. */
function outcomeOf(result: unknown, call: Call): 'input_required' | 'complete' | 'error' {
  if (!isInputRequiredResult(result)) return 'complete';
  const kinds = Object.values(result.inputRequests ?? {}).map(kindOf);
  return kinds.every((kind) => !kind || call.askable.includes(kind)) ? 'input_required' : 'error';
}

const INTERNAL = 'Internal error';
const NEEDS_MODERN = `This needs a client that makes several rounds (MCP ${MRTR_REVISION}).`;
const NOTHING_ASKED = new Map<string, never>();

const digestOf = (answers: Readonly<Record<string, unknown>>): string =>
  hash('sha256', canonicalJson(answers), 'base64url');

const tooManyCalls = (full: QuotaExceeded): ProtocolError =>
  new ProtocolError(
    ProtocolErrorCode.InternalError,
    `${full === 'own' ? 'You have' : 'This server has'} too many calls running. Try again when one has ended.`,
    { reason: 'too_many_calls' },
  );

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

function traceparentOf(ctx: ServerContext): string | undefined {
  const traceparent: unknown = ctx.mcpReq._meta?.[TRACEPARENT_META_KEY];
  return typeof traceparent === 'string' ? traceparent : undefined;
}

const warnOfEphemeralKey = (): void =>
  warnOnce(
    'MRTR_EPHEMERAL_KEY',
    'requestState is sealed with a random key of this process, over HTTP: no other instance and no restarted one can ' +
      'resume a call. Give requestStatePolicy the same `keys` everywhere.',
  );
