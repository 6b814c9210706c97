/**
 * The one place where request state is opened and sealed. It sits between the SDK's own seam and the
 * handlers, so it also serves the SDK's legacy shim, and no author ever holds a token.
 *
 * @see MCP 2026-07-28, basic/patterns/mrtr, server requirements
 */
import { hash, randomBytes } from 'node:crypto';
import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import {
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  TRACEPARENT_META_KEY,
} from '@modelcontextprotocol/server';
import { type Call, withCall } from '../call.ts';
import { isObserved, publish, publishAround } from '../diagnostics.ts';
import { InvalidPolicy, StateTooLarge, TooManyQuestions } from '../errors.ts';
import { endCall } from '../results.ts';
import { isModern } from '../revision.ts';
import { type InputRequiredResult, isMrtrMethod, MRTR_METHODS, type MrtrMethod } from '../wire.ts';
import { answersFit, ownAnswers } from './answers.ts';
import { type Binding, canonicalArguments } from './binding.ts';
import { MAX_DEPTH } from './canonical-json.ts';
import { type Opened, openState, type RejectionReason, sealState, tokenId, tokenLength } from './codec.ts';
import { keptState, payloadOf } from './payload.ts';
import type { RequestStatePolicy } from './policy.ts';
import { LedgerFailed, type SingleUsePolicy, serveOnce, type UsedReason } from './single-use.ts';

type Request = { readonly params?: Readonly<Record<string, unknown>> | undefined };
type Handler = (request: Request, ctx: ServerContext) => unknown;
type OpenedState = Extract<Opened, { id: string }>;
type Round = { readonly binding: Binding; readonly opened: OpenedState | undefined };
type SetRequestHandler = (method: string, ...rest: unknown[]) => void;

/**
 * Protects the request state of everything that is registered on `server` from now on.
 *
 * Inbound, a token is opened and every claim in it checked; the handler reads its own plaintext from
 * `ctx.mcpReq.requestState()`. Outbound, whatever `requestState` an `input_required` result carries is sealed.
 * Any failure answers the frozen `-32602 Invalid or expired requestState`; the true reason goes to the
 * `mrtr:state` channel and the server's `onerror` only.
 *
 * {@link protectedServer} does this for a new server in one step.
 *
 * @throws InvalidPolicy when handlers were registered before (those would not be protected), and when the
 * policy has no audience.
 */
export function protectRequestState(server: McpServer, policy: RequestStatePolicy): void {
  const low = server.server;
  for (const method of MRTR_METHODS) {
    try {
      low.assertCanSetRequestHandler(method);
    } catch (cause) {
      throw new InvalidPolicy(
        `${method} already has a handler. Call protectRequestState on the new McpServer, before anything is ` +
          'registered, and leave its capabilities to be inferred: declaring them installs handlers at once.',
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
      // The SDK gives such a handler the parsed params and not the request: there is no telling what to bind to.
      throw new InvalidPolicy(
        `${method} cannot be protected with schemas of its own. Register it as setRequestHandler('${method}', handler).`,
      );
    }
    return setRequestHandler(method, boundary.around(method, rest[0] as Handler));
  }) as typeof low.setRequestHandler;
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
    return async (request, ctx) => {
      if (this.#policy.ephemeral && ctx.http?.req) warnOfEphemeralKey();
      const claimed = this.#binding(method, request, ctx);
      this.#checkAnswers(claimed, ctx);
      const opened = this.#open(claimed, ctx);
      const binding = opened ? claimed : this.#digestible(claimed);
      const serve = () => this.#serve(handler, request, ctx, { binding, opened });
      return opened && this.#policy.singleUse ? this.#once(serve, opened, binding, ctx) : serve();
    };
  }

  async #serve(handler: Handler, request: Request, ctx: ServerContext, { binding, opened }: Round) {
    const call = this.#call(binding, opened);
    const { method, target, round } = call;
    const traceparent = traceparentOf(ctx);
    const start = { phase: 'start', method, target, round, continues: opened?.id, traceparent } as const;
    return publishAround(start, async () => {
      let outcome: 'input_required' | 'complete' | 'error' = 'error';
      try {
        const returned = await handler(request, this.#context(ctx, call, opened?.payload));
        const result = isInputRequiredResult(returned) ? this.#outbound(returned, binding, call) : returned;
        outcome = isInputRequiredResult(result) ? 'input_required' : 'complete';
        return result;
      } finally {
        publish('mrtr:round', { phase: 'end', method, target, round, outcome, shape: call.shape });
      }
    });
  }

  async #once(serve: () => Promise<unknown>, opened: OpenedState, binding: Binding, ctx: ServerContext) {
    const presentation = {
      opened,
      binding,
      ring: this.#policy.ring,
      now: () => this.#seconds(),
      signal: ctx.mcpReq.signal,
      onUnsettled: (error: unknown) => this.#server.server.onerror?.(asError(error)),
    };
    const policy = this.#policy.singleUse as SingleUsePolicy;
    const once = await serveOnce(policy, presentation, serve).catch((error: unknown) => {
      throw error instanceof LedgerFailed ? this.#refuse(asError(error.cause)) : error;
    });
    if ('rejected' in once)
      return this.#reject(binding, ctx.mcpReq.requestState<string>() ?? '', once.rejected);
    const { method, target } = binding;
    if (once.replayed) publish('mrtr:state', { phase: 'replayed', method, target, bytes: 0, id: opened.id });
    return once.result;
  }

  #binding(method: MrtrMethod, request: Request, ctx: ServerContext): Binding {
    const params = request.params ?? {};
    return {
      method,
      target: String(method === 'resources/read' ? params.uri : params.name),
      arguments: params.arguments,
      audience: this.#audience,
      principal: this.#policy.principal(ctx),
    };
  }

  // Refused and not dropped: asked again, its user would answer the same, and never learn why. It comes before the
  // state is claimed, so a shorter answer with the same state is still the first.
  #checkAnswers({ method, target }: Binding, ctx: ServerContext): void {
    const limit = this.#policy.maxAnswerBytes;
    if (answersFit(ctx.mcpReq.inputResponses, limit)) return;
    const expected = `An answer has to be JSON of at most ${limit} bytes, nested at most ${MAX_DEPTH} levels deep`;
    this.#server.server.onerror?.(new Error(`An answer to ${method} ${target} was refused. ${expected}.`));
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, expected, { reason: 'answer_too_large' });
  }

  #open(binding: Binding, ctx: ServerContext): OpenedState | undefined {
    const token = ctx.mcpReq.requestState<string>();
    if (token === undefined) return undefined;
    const opened = this.#tryOpen(token, binding);
    const { method, target } = binding;
    if (!('rejected' in opened)) {
      publish('mrtr:state', { phase: 'opened', method, target, bytes: token.length, id: opened.id });
      return opened;
    }
    return this.#reject(binding, token, opened.rejected);
  }

  #reject({ method, target }: Binding, token: string, reason: RejectionReason | UsedReason): never {
    publish('mrtr:state', { phase: 'rejected', method, target, bytes: token.length, reason });
    this.#server.server.onerror?.(new Error(`requestState of ${method} ${target} rejected: ${reason}`));
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
      reason: 'invalid_request_state',
    });
  }

  /**
   * Of a first request. What cannot be digested cannot be bound to state, and is refused here: found out when state is
   * sealed, the handler's effects would have run for nothing, as often as the client likes.
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
      return openState(token, binding, this.#seconds(), this.#policy.ring);
    } catch (error) {
      // Arguments that have no digest (nested too deeply, or a number beyond all: 1e999) are none that a token was
      // sealed for.
      if (error instanceof RangeError || error instanceof TypeError) return { rejected: 'other_arguments' };
      throw error;
    }
  }

  #call(binding: Binding, opened: OpenedState | undefined): Call {
    // The server instance, not the request's envelope: an old client could write anything into that.
    const low = this.#server.server;
    const revision = low.getNegotiatedProtocolVersion();
    const { principal } = binding;
    return {
      method: binding.method,
      target: binding.target,
      revision,
      legacyCapabilities: isModern(revision) ? undefined : low.getClientCapabilities(),
      legacy: this.#policy.legacy,
      principal: principal === undefined ? undefined : hash('sha256', PROCESS_SALT + principal, 'base64url'),
      round: (opened?.round ?? 0) + 1,
      tokenId: opened?.id,
      maxRounds: this.#policy.maxRounds,
      maxQuestions: this.#policy.maxQuestions,
      maxStateBytes: this.#policy.maxBytes,
    };
  }

  #context(ctx: ServerContext, call: Call, payload: string | undefined): ServerContext {
    const mcpReq = {
      ...ctx.mcpReq,
      ...(ctx.mcpReq.inputResponses && { inputResponses: ownAnswers(ctx.mcpReq.inputResponses) }),
      requestState: <T>() => keptState(payload) as T | undefined,
    };
    // With single use each question goes out with state; an answer without it answers nothing that was asked.
    if (this.#policy.singleUse && payload === undefined) delete mcpReq.inputResponses;
    return withCall(ctx, call, mcpReq);
  }

  #outbound(result: InputRequiredResult, binding: Binding, call: Call): unknown {
    const { requestState } = result;
    const payload = payloadOf(requestState, this.#policy.singleUse !== undefined);
    if (payload !== undefined && call.round >= call.maxRounds) {
      return endCall(call, `This call still needs input after ${call.maxRounds} rounds. Start it again.`);
    }
    const keys = Object.keys(result.inputRequests ?? {});
    if (keys.length > call.maxQuestions)
      this.#refuse(
        new TooManyQuestions(keys.length, call.maxQuestions),
        'The server asks too many questions at once',
      );
    const sealed =
      payload === undefined ? result : { ...result, requestState: this.#seal(payload, binding, call) };
    publish('mrtr:ask', { target: call.target, keys, live: false });
    return sealed;
  }

  #seal(payload: string, binding: Binding, call: Call): string {
    if (typeof payload !== 'string' || !payload.isWellFormed()) {
      this.#refuse(
        new TypeError('requestState has to be well-formed text. Return JSON.stringify(...) of it.'),
      );
    }
    const bytes = tokenLength(Buffer.byteLength(payload), call.routingLabel);
    if (bytes > this.#policy.maxBytes) this.#refuse(new StateTooLarge(bytes, this.#policy.maxBytes));
    const seal = {
      binding,
      round: call.round,
      issuedAt: this.#seconds(),
      ttlSeconds: this.#policy.ttlSeconds,
      routingLabel: call.routingLabel,
    };
    const token = sealState(payload, seal, this.#policy.ring[0] as RequestStatePolicy['ring'][number]);
    const { method, target } = binding;
    const id = isObserved('mrtr:state') ? tokenId(token) : undefined;
    publish('mrtr:state', { phase: 'sealed', method, target, bytes: token.length, id });
    return token;
  }

  #refuse(cause: Error, why = 'The server cannot keep the state of this call'): never {
    this.#server.server.onerror?.(cause);
    throw new ProtocolError(ProtocolErrorCode.InternalError, why);
  }

  #seconds(): number {
    return Math.floor(this.#policy.now() / 1000);
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

function traceparentOf(ctx: ServerContext): string | undefined {
  const traceparent: unknown = ctx.mcpReq._meta?.[TRACEPARENT_META_KEY];
  return typeof traceparent === 'string' ? traceparent : undefined;
}

const PROCESS_SALT = randomBytes(16).toString('base64url');

let warned = false;

function warnOfEphemeralKey(): void {
  if (warned) return;
  warned = true;
  process.emitWarning(
    'requestState is sealed with a random key of this process, over HTTP: no other instance and no restarted ' +
      'one can go on with a call. Give requestStatePolicy the same `keys` everywhere.',
    { code: 'MRTR_EPHEMERAL_KEY' },
  );
}
