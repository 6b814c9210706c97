/**
 * The one place where request state is opened and sealed. It sits between the SDK's own seam and the
 * handlers, so it also serves the SDK's legacy shim, and no author ever holds a token.
 *
 * @see MCP 2026-07-28, basic/patterns/mrtr, server requirements
 */
import { hash, randomBytes } from 'node:crypto';
import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { isInputRequiredResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { type Call, withCall } from '../call.ts';
import { publish } from '../diagnostics.ts';
import { InvalidPolicy, StateTooLarge } from '../errors.ts';
import { endCall } from '../results.ts';
import { isModern } from '../revision.ts';
import { type InputRequiredResult, isMrtrMethod, MRTR_METHODS, type MrtrMethod } from '../wire.ts';
import type { Binding } from './binding.ts';
import { type Opened, openState, type RejectionReason, sealState, tokenLength } from './codec.ts';
import type { RequestStatePolicy } from './policy.ts';

type Request = { readonly params?: Readonly<Record<string, unknown>> | undefined };
type Handler = (request: Request, ctx: ServerContext) => unknown;
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
      const binding = this.#binding(method, request, ctx);
      const opened = this.#open(binding, ctx);
      const call = this.#call(binding, opened?.round ?? 0);
      publish('mrtr:round', { phase: 'start', method, target: call.target, round: call.round });
      let outcome: 'input_required' | 'complete' | 'error' = 'error';
      try {
        const returned = await handler(request, this.#context(ctx, call, opened?.payload));
        const result = isInputRequiredResult(returned) ? this.#outbound(returned, binding, call) : returned;
        outcome = isInputRequiredResult(result) ? 'input_required' : 'complete';
        return result;
      } finally {
        const { target, round, shape } = call;
        publish('mrtr:round', { phase: 'end', method, target, round, outcome, shape });
      }
    };
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

  #open(binding: Binding, ctx: ServerContext): Exclude<Opened, { rejected: RejectionReason }> | undefined {
    const token = ctx.mcpReq.requestState<string>();
    if (token === undefined) return undefined;
    const opened = this.#tryOpen(token, binding);
    const { method, target } = binding;
    if (!('rejected' in opened)) {
      publish('mrtr:state', { phase: 'opened', method, target, bytes: token.length });
      return opened;
    }
    publish('mrtr:state', {
      phase: 'rejected',
      method,
      target,
      bytes: token.length,
      reason: opened.rejected,
    });
    this.#server.server.onerror?.(
      new Error(`requestState of ${method} ${target} rejected: ${opened.rejected}`),
    );
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
      reason: 'invalid_request_state',
    });
  }

  #tryOpen(token: string, binding: Binding): Opened {
    if (token.length > this.#policy.maxBytes) return { rejected: 'too_large' };
    try {
      return openState(token, binding, this.#seconds(), this.#policy.ring);
    } catch (error) {
      // Arguments nested too deeply to digest cannot be the ones that a token was sealed for.
      if (error instanceof RangeError) return { rejected: 'other_arguments' };
      throw error;
    }
  }

  #call(binding: Binding, rounds: number): Call {
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
      round: rounds + 1,
      maxRounds: this.#policy.maxRounds,
      maxStateBytes: this.#policy.maxBytes,
    };
  }

  #context(ctx: ServerContext, call: Call, payload: string | undefined): ServerContext {
    return withCall(
      { ...ctx, mcpReq: { ...ctx.mcpReq, requestState: <T>() => payload as T | undefined } },
      call,
    );
  }

  #outbound(result: InputRequiredResult, binding: Binding, call: Call): unknown {
    const payload = result.requestState;
    if (payload !== undefined && call.round >= call.maxRounds) {
      return endCall(call, `This call still needs input after ${call.maxRounds} rounds. Start it again.`);
    }
    const sealed =
      payload === undefined ? result : { ...result, requestState: this.#seal(payload, binding, call) };
    publish('mrtr:ask', { target: call.target, keys: Object.keys(result.inputRequests ?? {}), live: false });
    return sealed;
  }

  #seal(payload: string, binding: Binding, call: Call): string {
    if (typeof payload !== 'string' || !payload.isWellFormed()) {
      this.#refuse(
        new TypeError('requestState has to be well-formed text. Return JSON.stringify(...) of it.'),
      );
    }
    const bytes = tokenLength(Buffer.byteLength(payload));
    if (bytes > this.#policy.maxBytes) this.#refuse(new StateTooLarge(bytes, this.#policy.maxBytes));
    const seal = {
      binding,
      round: call.round,
      issuedAt: this.#seconds(),
      ttlSeconds: this.#policy.ttlSeconds,
    };
    const token = sealState(payload, seal, this.#policy.ring[0] as RequestStatePolicy['ring'][number]);
    const { method, target } = binding;
    publish('mrtr:state', { phase: 'sealed', method, target, bytes: token.length });
    return token;
  }

  #refuse(cause: Error): never {
    this.#server.server.onerror?.(cause);
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'The server cannot keep the state of this call');
  }

  #seconds(): number {
    return Math.floor(this.#policy.now() / 1000);
  }
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
