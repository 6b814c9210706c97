/** Boundaries without servers: calls the handler that a boundary puts around an author's, with a built context. */

import { CLIENT_CAPABILITIES_META_KEY, McpServer } from '@modelcontextprotocol/server';
import {
  MRTR_REVISION,
  protectRequestState,
  type RequestStateOptions,
  type RequestStatePolicy,
  requestStatePolicy,
  type ServerContext,
} from '@mrtr/core';
import type { MrtrMethod } from '@mrtr/core/shape';
import { partsOf, policyFrom } from '../../packages/core/src/admission/policy.ts';

/** The parts of a request that a boundary reads. */
export interface SiteRequest {
  readonly method: MrtrMethod;
  readonly target: string;
  readonly arguments?: unknown;
  readonly principal?: string | undefined;
  readonly state?: string | undefined;
  readonly answers?: Readonly<Record<string, unknown>> | undefined;
  /** Fires when the client cancels. Default: it never does. */
  readonly signal?: AbortSignal | undefined;
}

/** The author's function. */
export type SiteAuthor = (ctx: ServerContext) => unknown;

/** A protected server of which only the boundary is used. */
export interface Site {
  /** The log entries since the last call. */
  log(): string[];
  request(request: SiteRequest, author: SiteAuthor): Promise<unknown>;
}

/** The time of all sites, in milliseconds. */
export const clock = { now: 1_785_240_000_000 };

/** Names the author's function for each request. */
const AUTHOR = Symbol('author');
type Carrying = ServerContext & { readonly [AUTHOR]: SiteAuthor };
type Wrapped = (request: unknown, ctx: ServerContext) => Promise<unknown>;
type Sets = {
  setRequestHandler: (method: string, handler: unknown) => void;
  getNegotiatedProtocolVersion: () => string | undefined;
};

/** A policy whose clock is the {@link clock}. */
export const policyOf = (options: RequestStateOptions): RequestStatePolicy =>
  requestStatePolicy({
    principal: (ctx) => ctx.http?.authInfo?.token,
    now: () => clock.now,
    singleUse: false,
    ...options,
  });

/** A site with `policy`. */
export function siteWith(policy: RequestStatePolicy, audience: string): Site {
  const server = new McpServer({ name: audience, version: '1.0.0' });
  const log: string[] = [];
  server.server.onerror = (error) => log.push(error.message);
  const wrapped = new Map<string, Wrapped>();
  const low = server.server as unknown as Sets;
  // The boundary registers its handler on the low-level server. Keep it here instead.
  low.setRequestHandler = (method, handler) => wrapped.set(method, handler as Wrapped);
  // There is no connection, so no negotiated revision.
  low.getNegotiatedProtocolVersion = () => MRTR_REVISION;
  protectRequestState(server, policyFrom({ ...partsOf(policy), audience }));
  for (const method of ['tools/call', 'prompts/get', 'resources/read']) {
    low.setRequestHandler(method, (_: unknown, ctx: Carrying) => ctx[AUTHOR](ctx));
  }
  return {
    log: () => log.splice(0),
    request(request, of) {
      const { method, target, principal, state, answers, signal } = request;
      const named = method === 'resources/read' ? { uri: target } : { name: target };
      const params = { ...named, ...('arguments' in request && { arguments: request.arguments }) };
      const ctx: Carrying = { ...contextOf(method, { principal, state, answers, signal }), [AUTHOR]: of };
      return (wrapped.get(method) as Wrapped)({ params }, ctx);
    },
  };
}

function contextOf(
  method: string,
  { principal, state, answers, signal = new AbortController().signal }: Partial<SiteRequest>,
): ServerContext {
  return {
    mcpReq: {
      id: 1,
      method,
      envelope: { [CLIENT_CAPABILITIES_META_KEY]: { elicitation: { form: {}, url: {} } } },
      signal,
      requestState: () => state,
      ...(answers && { inputResponses: asTheSdkCollects(answers) }),
    },
    ...(principal !== undefined && { http: { authInfo: { token: principal } } }),
  } as unknown as ServerContext;
}

// By assignment, so that a key `__proto__` becomes the prototype of the rest.
function asTheSdkCollects(answers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const accepted: Record<string, unknown> = {};
  for (const [key, answer] of Object.entries(answers)) {
    const plain = typeof answer === 'object' && answer !== null && !Array.isArray(answer);
    if (plain && !('method' in answer) && !('result' in answer)) accepted[key] = answer;
  }
  return accepted;
}
