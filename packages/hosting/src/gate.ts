/** What every HTTP request passes before it reaches a server, and which server it reaches. */
import {
  type AuthInfo,
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  originValidationResponse,
  requireBearerAuth,
} from '@modelcontextprotocol/server';
import type { HttpOptions } from './http.ts';
import { problem } from './problem.ts';
import { reporting, type Served } from './served.ts';
import { Sessions } from './sessions.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const METHODS = ['GET', 'POST', 'DELETE'];

/** The web-standard face of an HTTP hosting. */
export class Gate {
  readonly #served: Served;
  readonly #path: string;
  readonly #allowedHosts: string[];
  readonly #modern: ReturnType<typeof createMcpHandler>;
  readonly #sessions: Sessions | undefined;
  readonly #authenticate: ((request: Request) => Promise<AuthInfo | Response>) | undefined;
  #shut = false;

  constructor(
    served: Served,
    options: HttpOptions & { readonly path: string; readonly maxBodyBytes: number },
  ) {
    const { allowedHosts = LOOPBACK, legacy = 'sessions', verifier, onerror } = options;
    this.#served = served;
    this.#path = options.path;
    this.#allowedHosts = [...allowedHosts];
    this.#modern = createMcpHandler(() => reporting(served, onerror), {
      maxRequestBodySize: options.maxBodyBytes,
      ...(options.maxSubscriptions !== undefined && { maxSubscriptions: options.maxSubscriptions }),
      ...(onerror && { onerror }),
    });
    this.#authenticate = verifier && requireBearerAuth({ verifier });
    this.#sessions = legacy === 'sessions' ? new Sessions(served, options.sessionLimits, onerror) : undefined;
  }

  /** Answers one request. Its body is in memory by now, and within the limit. */
  async fetch(request: Request): Promise<Response> {
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
    return this.#serve(request, authInfo);
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

  async #serve(request: Request, authInfo: AuthInfo | undefined): Promise<Response> {
    // Parsed once and passed on: the SDK would clone the request to classify it, and parse it again.
    const body = await bodyOf(request);
    if (body instanceof Response) return body;
    if (this.#sessions && (await isLegacyRequest(request, body?.json))) {
      return this.#sessions.handle(request, body?.json, authInfo);
    }
    return this.#modern.fetch(request, {
      ...(authInfo && { authInfo }),
      ...(body && { parsedBody: body.json }),
    });
  }
}

async function bodyOf(request: Request): Promise<{ readonly json: unknown } | Response | undefined> {
  if (request.method !== 'POST') return undefined;
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get('content-type') ?? '')) {
    return problem(415, 'Content-Type must be application/json');
  }
  let json: unknown;
  try {
    json = JSON.parse(await request.text());
  } catch {
    return problem(400, 'Parse error', {}, -32700);
  }
  // Revisions since 2025-06-18 have none, and what is counted by request would let its hundred calls pass as one.
  if (Array.isArray(json)) return problem(400, 'Send one message at a time, not a batch', {}, -32600);
  return { json };
}
