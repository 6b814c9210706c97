/**
 * Which pages may call, and what a browser lets them read: CORS, at the MCP server's path alone. Hono's middleware would
 * need Hono's router, which serves HEAD as GET; and it answers each OPTIONS, a preflight or not.
 */
import { originValidationResponse } from '@modelcontextprotocol/server';
import { InvalidOption } from '@mrtr/core';
import { countRefusal, problem } from './problem.ts';

/** An origin of an application that shows pages under a scheme of its own: `vscode-webview://1a2b`. */
const OTHER_SCHEME = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^/*]+$/;

/** What a client reads of a response, beside its body and type. */
const EXPOSED = 'Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate';

/** The most that Chromium keeps a preflight, in seconds. What comes after it is still checked, request by request. */
const MAX_AGE = '7200';

/** Whether it is an origin of http or https, as a browser writes it. */
const isPageOfHost = (text: string): boolean =>
  /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;

const isOrigin = (text: string): boolean =>
  OTHER_SCHEME.test(text) || (isPageOfHost(text) && !text.includes('*'));

/** The origins that may call. */
export class Origins {
  readonly #origins: readonly string[];
  readonly #hosts: string[];
  readonly #methods: string;

  /**
   * @param origins in full. Pages of `hosts` may call too, on any port.
   * @throws InvalidOption for an origin that no browser sends: one with a path, for example.
   */
  constructor(origins: readonly string[], hosts: readonly string[], methods: readonly string[]) {
    for (const origin of origins) {
      if (isOrigin(origin)) continue;
      throw new InvalidOption(
        `allowedOrigins has '${origin}', which no browser sends as an origin. Write it like https://app.example.`,
      );
    }
    this.#origins = origins;
    this.#hosts = [...hosts];
    this.#methods = methods.join(', ');
  }

  /** The refusal of a request whose origin may not call. A program that is no browser sends none, and may. */
  refusalOf(request: Request): Response | undefined {
    const origin = request.headers.get('origin') ?? '';
    if (this.#origins.includes(origin)) return undefined;
    // The SDK looks at the host alone: also of `foo://localhost`, and of two origins whose first one has a path.
    if (origin !== '' && !isPageOfHost(origin)) return problem(403, 'Invalid Origin header');
    const refused = originValidationResponse(request, this.#hosts);
    return refused && countRefusal(refused, 'http_forbidden_origin');
  }

  /** The answer to a preflight of an origin that may call; undefined where `request` is no preflight. */
  preflight({ method, headers }: Request): Response | undefined {
    if (method !== 'OPTIONS' || !headers.has('origin') || !headers.has('access-control-request-method')) {
      return undefined;
    }
    const answer = new Response(null, { status: 204 });
    answer.headers.set('access-control-allow-methods', this.#methods);
    answer.headers.set('access-control-max-age', MAX_AGE);
    // All that it asks for: tools name headers of their own (Mcp-Param-…), and so do proxies and tracers.
    const asked = headers.get('access-control-request-headers');
    if (asked) answer.headers.set('access-control-allow-headers', asked);
    answer.headers.set('vary', 'Access-Control-Request-Headers');
    return answer;
  }

  /**
   * Lets the page that called read the answer. Not with credentials: a page sends its access token itself, and what a
   * browser adds by itself (cookies, certificates) counts for nothing here.
   */
  readable(request: Request, answer: Response): Response {
    const origin = request.headers.get('origin');
    answer.headers.append('vary', 'Origin');
    if (!origin) return answer;
    answer.headers.set('access-control-allow-origin', origin);
    answer.headers.set('access-control-expose-headers', EXPOSED);
    return answer;
  }
}
