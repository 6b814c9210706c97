/** What every HTTP request passes before it reaches a server, and which server it reaches. */
import type { Readable } from 'node:stream';
import {
  type AuthInfo,
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  type OAuthTokenVerifier,
  originValidationResponse,
  requireBearerAuth,
} from '@modelcontextprotocol/server';
import { MRTR_REVISION } from '@mrtr/core';
import { textOf } from './body.ts';
import { problem } from './problem.ts';
import { type OnError, reporting, type Served } from './served.ts';
import { type SessionLimits, Sessions } from './sessions.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const METHODS = ['GET', 'POST', 'DELETE'];

/** What is let in, and how it is served. Everything has a default. */
export interface GateOptions {
  /** Default `/mcp`. */
  readonly path?: string;
  /**
   * Host names that requests may be for, and origins they may come from; IPv6 addresses in brackets. Default:
   * `localhost` and its addresses.
   */
  readonly allowedHosts?: readonly string[];
  /** Largest request body, in bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Who may come in. Default: everybody; bind to loopback then. */
  readonly verifier?: OAuthTokenVerifier | undefined;
  /**
   * How old clients are served. `sessions` (the default) holds a connection for each, so that tools can ask them;
   * `stateless` holds nothing.
   */
  readonly legacy?: 'sessions' | 'stateless';
  /** Bounds on what old clients hold. */
  readonly sessionLimits?: SessionLimits;
  /** Subscription streams of new clients at once. Default 1024; one more is answered with `-32603`. */
  readonly maxSubscriptions?: number;
  /** Default: nobody is told. */
  readonly onerror?: OnError;
}

/** The web-standard face of an HTTP hosting. */
export class Gate {
  readonly #served: Served;
  readonly #path: string;
  readonly #maxBodyBytes: number;
  readonly #allowedHosts: string[];
  readonly #modern: ReturnType<typeof createMcpHandler>;
  readonly #sessions: Sessions | undefined;
  readonly #authenticate: ((request: Request) => Promise<AuthInfo | Response>) | undefined;
  #shut = false;

  constructor(
    served: Served,
    options: GateOptions & { readonly path: string; readonly maxBodyBytes: number },
  ) {
    const { allowedHosts = LOOPBACK, legacy = 'sessions', verifier, onerror } = options;
    this.#served = served;
    this.#path = options.path;
    this.#maxBodyBytes = options.maxBodyBytes;
    this.#allowedHosts = [...allowedHosts];
    this.#modern = createMcpHandler(() => reporting(served, onerror), {
      legacy: legacy === 'sessions' ? 'reject' : 'stateless',
      ...(options.maxSubscriptions !== undefined && { maxSubscriptions: options.maxSubscriptions }),
      ...(onerror && { onerror }),
    });
    this.#authenticate = verifier && requireBearerAuth({ verifier });
    this.#sessions = legacy === 'sessions' ? new Sessions(served, options.sessionLimits, onerror) : undefined;
  }

  /** Answers one request. Its body is read from `incoming` when it has come in, and within the limit. */
  async fetch(request: Request, incoming: Readable): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/healthz')
      return new Response(this.#shut ? 'closing' : 'ok', { status: this.#shut ? 503 : 200 });
    if (pathname !== this.#path) return problem(404, `Nothing is here; MCP is at ${this.#path}`);
    if (this.#shut) return problem(503, 'The server is shutting down');
    const refused =
      hostHeaderValidationResponse(request, this.#allowedHosts) ??
      originValidationResponse(request, this.#allowedHosts);
    if (refused) return refused;
    if (!METHODS.includes(request.method)) {
      return problem(405, 'Method not allowed', { allow: METHODS.join(', ') });
    }
    const authInfo = await this.#authenticate?.(request);
    if (authInfo instanceof Response) return authInfo;
    return this.#serve(request, incoming, authInfo);
  }

  /** From now on, lets nobody in. */
  shut(): void {
    this.#shut = true;
  }

  /** Ends everything that is held, calls in flight included. */
  async close(): Promise<void> {
    const ended = await Promise.allSettled([
      this.#served.close(),
      this.#sessions?.close(),
      this.#modern.close(),
    ]);
    for (const end of ended) if (end.status === 'rejected') throw end.reason;
  }

  async #serve(request: Request, incoming: Readable, authInfo: AuthInfo | undefined): Promise<Response> {
    const body = request.method === 'POST' ? await this.#read(request, incoming) : undefined;
    if (body instanceof Response) return body;
    if (this.#sessions && (await isLegacy(request, body?.json))) {
      return this.#sessions.handle(request, body?.json, authInfo);
    }
    return this.#modern.fetch(request, {
      ...(authInfo && { authInfo }),
      ...(body && { parsedBody: body.json }),
    });
  }

  /** Parsed once and passed on: the SDK would clone the request to classify it, and parse it again. */
  async #read(request: Request, incoming: Readable): Promise<{ readonly json: unknown } | Response> {
    if (!/^application\/json\s*(;|$)/i.test(request.headers.get('content-type') ?? '')) {
      return problem(415, 'Content-Type must be application/json');
    }
    if (request.headers.has('content-encoding')) return problem(415, 'A body must not be encoded');
    const max = this.#maxBodyBytes;
    const tooLong = Number(request.headers.get('content-length')) > max;
    const text = tooLong ? undefined : await textOf(incoming, max);
    if (text === undefined) {
      return problem(413, `A body has at most ${max} bytes`, { connection: 'close' });
    }
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      return problem(400, 'Parse error', {}, -32700);
    }
    // Revisions since 2025-06-18 have none, and what is counted by request would let its hundred calls pass as one.
    if (Array.isArray(json)) return problem(400, 'Send one message at a time, not a batch', {}, -32600);
    return { json };
  }
}

/** Whether an old client sent this. The SDK reads all of a message to tell; with the new revision's name on it, once. */
const isLegacy = async (request: Request, message: unknown): Promise<boolean> => {
  const named = request.headers.get('mcp-protocol-version') === MRTR_REVISION;
  if (named && typeof (message as { readonly method?: unknown } | null)?.method === 'string') return false;
  return isLegacyRequest(request, message);
};
