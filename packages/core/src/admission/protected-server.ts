/**
 * The boundary: it opens request state before a handler runs, and seals it afterwards. It wraps the handlers inside the
 * SDK, so it also covers the SDK's legacy shim, and handlers never see a token.
 *
 * @see MCP 2026-07-28, basic/patterns/mrtr, server requirements
 */
import {
  type Implementation,
  type ListToolsResult,
  McpServer,
  type ServerContext,
  type ServerOptions,
} from '@modelcontextprotocol/server';
import { noteListener, tellOperator } from '../diagnostics/operator.ts';
import { InvalidOption } from '../errors.ts';
import { asRequired, aText, requireArgument, requireOptions } from '../options.ts';
import { warnOnce } from '../process-wide.ts';
import { isModern } from '../wire/call.ts';
import { catchNoHandler } from '../wire/no-handler.ts';
import { isMrtrMethod, MRTR_METHODS } from '../wire/wire.ts';
import { Admission, type ServedMethod } from './admission.ts';
import { askableKinds, type McpRequest } from './admitted-call.ts';
import { aPolicy, type PolicyParts, partsOf, type RequestStatePolicy } from './policy.ts';
import { watchRegistration } from './registrations.ts';
import { Rejections } from './rejections.ts';
import { handlerOf } from './request-handler.ts';
import type { Handler } from './serve.ts';

type SetRequestHandler = (method: string, ...rest: unknown[]) => void;

/**
 * Protects the request state of everything that you register on `server` from now on.
 *
 * On the way in, a token is opened and checked against its request, answers to questions that were not asked are
 * dropped, and the handler reads its own plaintext from `ctx.mcpReq.requestState()`. On the way out, the `requestState`
 * of an `input_required` result is sealed, together with the questions. State that is altered, expired, of another
 * request or of another `version`, or that does not fit the handler's schema (`readState`), is rejected with one error for
 * all reasons, `-32602 Invalid or expired requestState` (the *frozen error*). The reason goes to the `mrtr:rejection`
 * channel and to `onerror`.
 *
 * `protectedServer` does this for a new server in one step.
 *
 * @throws InvalidOption when handlers were registered before (those would not be protected), and when the policy has
 * no audience.
 * @example
 * const server = new McpServer({ name: 'shop', version: '1.0.0' });
 * protectRequestState(server, requestStatePolicy({ keys: [process.env.STATE_KEY], audience: 'shop' }));
 */
export function protectRequestState(server: McpServer, policy: RequestStatePolicy): void {
  requireArgument('protectRequestState', 'policy', policy, aPolicy);
  const parts = partsOf(policy);
  protect(server, parts, parts.audience);
}

function protect(server: McpServer, parts: PolicyParts, audience: string | undefined) {
  const lowLevelServer = server.server;
  for (const method of MRTR_METHODS) {
    try {
      lowLevelServer.assertCanSetRequestHandler(method);
    } catch (cause) {
      throw new InvalidOption(
        `${method} already has a handler. Call protectRequestState on the new McpServer, before you register ` +
          'anything, and leave its capabilities to be inferred: declaring them installs handlers at once.',
        { cause },
      );
    }
  }
  if (audience === undefined)
    throw new InvalidOption(
      'The policy names no audience, and a built McpServer does not tell its name. Set `audience`, or let ' +
        'protectedServer(info, policy) build the server.',
    );
  noteListener(server, parts.onerror);
  const rejections = new Rejections((error) => tellOperator(error, lowLevelServer.onerror, parts.onerror));
  const admission = new Admission(server, parts, rejections, audience);
  const registrations = watchRegistration(server);
  catchNoHandler(server);
  /** Lists the tools whose needs the client can be asked for. */
  const listOffered = (list: Handler) => async (request: McpRequest, ctx: ServerContext) => {
    const askable = askableKinds(server, parts, ctx);
    const asks = (target: string) => registrations.find({ method: 'tools/call', target })?.asks ?? [];
    const result = (await list(request, ctx)) as ListToolsResult;
    const tools = result.tools.filter(({ name }) => asks(name).every((kind) => askable.includes(kind)));
    // Another client gets another list. The older revision has no such member.
    const isNew = isModern(lowLevelServer.getNegotiatedProtocolVersion());
    return { ...result, tools, ...(isNew && { cacheScope: 'private' }) };
  };
  const setRequestHandler = lowLevelServer.setRequestHandler.bind(lowLevelServer) as SetRequestHandler;
  lowLevelServer.setRequestHandler = ((method: string, ...rest: unknown[]) => {
    if (method === 'tools/list' && parts.hideUnaskable && rest.length === 1)
      return setRequestHandler(method, listOffered(rest[0] as Handler));
    if (!isMrtrMethod(method)) return setRequestHandler(method, ...rest);
    if (rest.length > 1) {
      // The SDK gives such a handler only the parsed params, and state is bound to the whole request.
      throw new InvalidOption(
        `${method} cannot be protected with schemas of its own. Register it as setRequestHandler('${method}', handler).`,
      );
    }
    const handler = rest[0] as Handler;
    const target: ServedMethod = { method, handler, ...(registrations.isRegistering() && { registrations }) };
    return setRequestHandler(method, (request: McpRequest, ctx: ServerContext) => {
      if (parts.keys.ring[0]?.ephemeral && ctx.http?.req) warnOnce('MRTR_EPHEMERAL_KEY', EPHEMERAL_KEY);
      // Without a session this server has seen no `initialize`, so it knows no revision and has no stream to ask over.
      const isStateless = ctx.http?.req && lowLevelServer.getNegotiatedProtocolVersion() === undefined;
      if (isStateless && parts.legacy === 'shim') warnOnce('MRTR_STATELESS_OLD_CLIENT', STATELESS_OLD_CLIENT);
      const settled = admission.admit(target, request, ctx);
      if (ctx.http?.req) handlerOf(ctx.http.req).settled = settled;
      return settled;
    });
  }) as typeof lowLevelServer.setRequestHandler;
}

/**
 * Builds an `McpServer` and protects its request state before anything can be registered. It also sets the SDK's legacy
 * shim and its rounds from the policy, so that the two cannot disagree.
 *
 * @param info name and version; the name is the audience unless the policy sets one.
 * @param options the SDK's own, without `capabilities`: the SDK infers those from what you register. Add others with
 * `server.server.registerCapabilities(...)` afterwards.
 * @throws InvalidOption when `info` has no name, and for a policy that `requestStatePolicy` did not make.
 * @example
 * const policy = requestStatePolicy({ keys: [process.env.STATE_KEY] });
 * const createServer = () => {
 *   const server = protectedServer({ name: 'shop', version: '1.0.0' }, policy);
 *   server.registerTool('deploy', { inputSchema }, deploy);
 *   return server;
 * };
 */
export function protectedServer(
  info: Implementation,
  policy: RequestStatePolicy,
  options: Omit<ServerOptions, 'capabilities' | 'requestState'> = {},
): McpServer {
  const { name } = info ?? {};
  requireOptions('protectedServer', { name, policy }, SERVER_CHECKS);
  const parts = partsOf(policy);
  const { audience = name, legacy, limits } = parts;
  const server = new McpServer(info, {
    ...options,
    inputRequired: {
      maxRounds: limits.rounds,
      ...options.inputRequired,
      legacyShim: legacy === 'shim',
    },
  });
  protect(server, parts, audience);
  return server;
}

const SERVER_CHECKS = { name: asRequired(aText), policy: asRequired(aPolicy) };

const EPHEMERAL_KEY =
  'requestState is sealed with a random key of this process, over HTTP: no other instance and no restarted one can ' +
  'resume a call. Give requestStatePolicy the same `keys` everywhere.';

const STATELESS_OLD_CLIENT =
  'A client at 2025-11-25 or earlier made a call, and is served without a session, as createMcpHandler of the SDK does. ' +
  'So nobody can ask its user: a question gets its `fallback`, or ends the call with an error. Serve with ' +
  'sessions, as createMcpMount and serveHttp of @mrtr/hosting/http do, to ask them too. If they must not be asked, set ' +
  "`legacy: 'degrade'` in requestStatePolicy.";
