/**
 * CORS at the MCP server's path: the pages that may call, and the headers that they may read. Hono's middleware needs
 * Hono's router, which serves HEAD as GET. It also answers every OPTIONS as a preflight.
 */
import { originValidationResponse } from '@modelcontextprotocol/server';
import { InvalidOption } from '@mrtr/core';
import { countRejection, rejectHttp } from './rejections.ts';

/** An origin with an application's own scheme: `vscode-webview://1a2b`. */
const OTHER_SCHEME = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^/*]+$/;

/** The response headers that a client reads. */
const EXPOSED = 'Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate';

/** How long a browser may cache a preflight, in seconds: Chromium's maximum. Each request is checked anyway. */
const MAX_AGE = '7200';

/** Whether `text` is an origin of http or https, as a browser writes it. */
const isPageOfHost = (text: string) =>
  /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;

const isOrigin = (text: string) => OTHER_SCHEME.test(text) || (isPageOfHost(text) && !text.includes('*'));

/**
 * The origins that may call.
 *
 * @param origins full origins. Pages of `hosts` may call too, on any port.
 * @throws InvalidOption for an origin that no browser sends, such as one with a path.
 */
export function allowOrigins(origins: readonly string[], hosts: string[], methods: readonly string[]) {
  for (const origin of origins) {
    if (isOrigin(origin)) continue;
    throw new InvalidOption(
      `allowedOrigins has '${origin}', which no browser sends as an origin. Write it like https://app.example.`,
    );
  }

  /** Rejects a request whose origin may not call. Clients other than browsers send no origin, and may call. */
  function reject(request: Request): Response | undefined {
    const origin = request.headers.get('origin') ?? '';
    if (origins.includes(origin)) return undefined;
    // The SDK checks the host alone, and so would accept `foo://localhost`, or two origins of which the first has a path.
    if (origin !== '' && !isPageOfHost(origin))
      return rejectHttp(403, 'http_forbidden_origin', 'Invalid Origin header');
    const rejected = originValidationResponse(request, hosts);
    return rejected && countRejection(rejected, 'http_forbidden_origin');
  }

  /** Answers a preflight of an allowed origin. Undefined if `request` is not a preflight. */
  function preflight({ method, headers }: Request): Response | undefined {
    if (method !== 'OPTIONS' || !headers.has('origin') || !headers.has('access-control-request-method'))
      return undefined;
    const answer = new Response(null, { status: 204 });
    answer.headers.set('access-control-allow-methods', methods.join(', '));
    answer.headers.set('access-control-max-age', MAX_AGE);
    // Allow every header: tools (Mcp-Param-…), proxies and tracers have headers of their own.
    const asked = headers.get('access-control-request-headers');
    if (asked) answer.headers.set('access-control-allow-headers', asked);
    answer.headers.set('vary', 'Access-Control-Request-Headers');
    return answer;
  }

  /**
   * Lets the calling page read the answer. It does not allow credentials: pages send their access token themselves, and
   * nothing here reads cookies or client certificates.
   */
  function readable(request: Request, answer: Response): Response {
    const origin = request.headers.get('origin');
    // No cache keeps the answer to a POST, and it costs some 5 % of a call to write a header.
    if (!origin && request.method === 'POST') return answer;
    answer.headers.append('vary', 'Origin');
    if (!origin) return answer;
    answer.headers.set('access-control-allow-origin', origin);
    answer.headers.set('access-control-expose-headers', EXPOSED);
    return answer;
  }

  return { reject, preflight, readable };
}
