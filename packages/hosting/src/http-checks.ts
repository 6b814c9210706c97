/** Checks each HTTP request and routes it to a server. */
import {
  type AuthInfo,
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  requireBearerAuth,
} from '@modelcontextprotocol/server';
import { InvalidOption } from '@mrtr/core';
import { OperatorWarning } from '@mrtr/core/events';
import { MRTR_REVISION, tokenPrincipal } from '@mrtr/core/internal';
import { makeAnonymousGuard } from './anonymous.ts';
import { bodyReader } from './body.ts';
import type { AdmittedRequest, Exchange } from './exchange.ts';
import type { Limits } from './limits.ts';
import { makeRequestCounter } from './open-requests.ts';
import type { MountOptions } from './options.ts';
import { allowOrigins } from './origins.ts';
import { makePageServer, type PageSet } from './pages.ts';
import { countRejection, rejectFailed, rejectHttp } from './rejections.ts';
import { buildServer, reporterOf, type ServerInstance } from './server-instance.ts';
import { makeSessions } from './sessions.ts';
import { makeStreamLimiter } from './unread-bytes.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const METHODS = ['GET', 'POST', 'DELETE'];
/** Whether this runs on Cloudflare Workers, where an answer cannot resume the request that asked. */
const isOnWorkers = () =>
  (globalThis as { navigator?: { userAgent?: unknown } }).navigator?.userAgent === 'Cloudflare-Workers';
/** How many characters of a rejected `Host` the operator's error quotes. */
const MAX_OF_HOST = 100;

/** @throws InvalidOption for an entry of `allowedHosts` that no `Host` header can match. */
function requireHostName(entry: string) {
  const address = URL.canParse(`http://${entry}`) && new URL(`http://${entry}`);
  if (address && address.hostname === entry && !entry.includes('*')) return;
  throw new InvalidOption(
    `allowedHosts: '${entry}' can match no request. Write the name of the host alone, in lower case, without a scheme, ` +
      'a port, a path or a *: shop.example, or [::1].',
  );
}

/**
 * Checks and limits the requests of one hosting, and passes them to the servers of both eras.
 *
 * @throws InvalidOption for wrong `allowedHosts` or `allowedOrigins`.
 */
export function makeHttpChecks(served: ServerInstance, options: MountOptions, limits: Limits) {
  const { allowedHosts = LOOPBACK, allowedOrigins = [] } = options;
  const { legacyClients = isOnWorkers() ? 'stateless' : 'sessions' } = options;
  const { verifier, principal: identify = tokenPrincipal, bus, onerror } = options;
  const report = reporterOf(served, onerror);
  const bodies = bodyReader(limits);
  const answerBrowser = makePageServer(onerror);
  const serveCounted = makeRequestCounter(limits);
  const boundUnread = makeStreamLimiter(limits, report);
  const hosts = allowedHosts === 'any' ? [] : [...allowedHosts];
  hosts.forEach(requireHostName);
  const origins = allowOrigins(allowedOrigins, hosts, METHODS);
  const modern = createMcpHandler(() => buildServer(served, onerror), {
    legacy: legacyClients === 'sessions' ? 'reject' : 'stateless',
    maxSubscriptions: limits.subscriptions,
    ...(bus && { bus }),
    onerror: report,
  });
  const authenticate = verifier && requireBearerAuth({ verifier });
  const rejectAnonymous = makeAnonymousGuard(options.anonymous, options.principal !== undefined, report);
  const sessions = legacyClients === 'sessions' ? makeSessions(served, limits, onerror) : undefined;
  let isShut = false;

  /** Answers one request of MCP. */
  async function serveMcp(request: Request, exchange: Exchange) {
    const rejected = rejectHost(request) ?? origins.reject(request);
    if (rejected) return rejected;
    const answer =
      origins.preflight(request) ??
      (await admit(request, exchange).catch((error: unknown) => rejectFailed(error, report)));
    return origins.readable(request, answer);
  }

  function rejectHost(request: Request) {
    if (allowedHosts === 'any') return undefined;
    const { headers, url } = request;
    // HTTP/2 has the host in the address alone.
    const host = headers.get('host') ?? new URL(url).host;
    const named = headers.has('host') ? request : new Request(url, { headers: { host } });
    const rejected = hostHeaderValidationResponse(named, hosts);
    if (!rejected) return undefined;
    const shown = host.slice(0, MAX_OF_HOST);
    const why = `A request for the host '${shown}' was rejected, because allowedHosts does not have it.`;
    report(new OperatorWarning('host_rejected', why));
    return countRejection(rejected, 'http_forbidden_origin');
  }

  async function admit(request: Request, exchange: Exchange) {
    if (isShut) return rejectHttp(503, 'http_closing', 'The server is shutting down');
    if (!METHODS.includes(request.method))
      return rejectHttp(405, 'http_invalid', 'Method not allowed', { allow: METHODS.join(', ') });
    const authInfo = requireAuthInfo(exchange.authInfo) ?? (await authenticate?.(request));
    if (authInfo instanceof Response) return countRejection(authInfo, 'http_unauthorized');
    const principal = authInfo && requirePrincipal(identify(authInfo));
    const anonymous = rejectAnonymous(request, principal);
    if (anonymous) return anonymous;
    const body =
      request.method === 'POST' ? await bodies.readMessage(request, exchange, principal) : undefined;
    if (body instanceof Response) return body;
    const admitted = { request, outgoing: exchange.outgoing, body, authInfo, principal };
    return boundUnread(await serveCounted(admitted, () => route(admitted)), admitted);
  }

  async function route(admitted: AdmittedRequest) {
    const { request, body, authInfo } = admitted;
    if (sessions && (await isLegacy(request, body?.json))) return sessions.handle(admitted);
    return modern.fetch(request, {
      ...(authInfo && { authInfo }),
      ...(body && { parsedBody: body.json }),
    });
  }

  /** Answers a browser. Does not check `Origin`: a link may lead here from any site. */
  async function servePage(pages: PageSet, request: Request, { incoming }: Exchange) {
    const rejected = rejectHost(request);
    if (rejected) return rejected;
    if (isShut) return rejectHttp(503, 'http_closing', 'The server is shutting down');
    return answerBrowser(pages, request, incoming);
  }

  /** Rejects every request from now on. */
  function shut() {
    isShut = true;
  }

  /** Ends all sessions, streams and calls in flight. */
  async function close() {
    const ended = await Promise.allSettled([
      // The async function catches a `close` that throws, so that the others end too.
      (async () => served.close?.())(),
      sessions?.close(),
      modern.close(),
    ]);
    for (const end of ended) if (end.status === 'rejected') throw end.reason;
  }

  /** `notify` publishes changes to the subscriptions of new clients. */
  return { notify: modern.notify, serveMcp, servePage, shut, close };
}

/** @throws InvalidOption for another middleware's value, such as the claims of a JWT: all its callers would be one. */
function requireAuthInfo(auth: AuthInfo | null | undefined) {
  if (auth === undefined || auth === null) return undefined;
  const { token, clientId, scopes }: Partial<AuthInfo> = auth;
  if (typeof token === 'string' && typeof clientId === 'string' && Array.isArray(scopes)) return auth;
  throw new InvalidOption(
    'The caller of a request (`req.auth`, or `authInfo` of fetch) must be an AuthInfo, with token, clientId and scopes. ' +
      'If a middleware leaves another value there, make an AuthInfo of it, or delete it.',
  );
}

function requirePrincipal(principal: unknown) {
  if (principal === undefined || typeof principal === 'string') return principal;
  throw new InvalidOption(
    `\`principal\` must return a text, or undefined; it returned a value of type ${typeof principal}.`,
  );
}

/** Skips the SDK's check, which parses the whole message, if the header names the new revision. */
const isLegacy = async (request: Request, message: unknown) => {
  const named = request.headers.get('mcp-protocol-version') === MRTR_REVISION;
  if (named && typeof (message as { readonly method?: unknown } | null)?.method === 'string') return false;
  return isLegacyRequest(request, message);
};
