/** Serves clients of both eras in any router: as a handler of Node, and as a web-standard `fetch`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { AuthInfo, McpHandlerRequestOptions, ServerNotifier } from '@modelcontextprotocol/server';
import { MRTR_REVISION, waitAtMost } from '@mrtr/core/internal';
import { bodyWasRead } from './body.ts';
import { watchConnections } from './connections.ts';
import { type Exchange, type Outgoing, WebOutgoing, whenClosed, whenSent } from './exchange.ts';
import { makeHttpChecks } from './http-checks.ts';
import type { Limits } from './limits.ts';
import { checkOptions, MOUNT_CHECKS, type MountOptions } from './options.ts';
import type { PageSet } from './pages.ts';
import { makeReadiness } from './readiness.ts';
import { rejectFailed, rejectHttp } from './rejections.ts';
import { reporterOf, type ServerInstance, waitForHandlers } from './server-instance.ts';

/** A request of Node, with the caller if a middleware has authenticated it, and the body if one has parsed it. */
export type NodeRequest = IncomingMessage & {
  readonly auth?: AuthInfo | undefined;
  readonly body?: unknown;
  readonly originalUrl?: string;
};

/** Serves MCP at a route of your own. */
export interface McpMount {
  /**
   * For express, fastify and `node:http`. Ignores the path: every request that your router sends here is one of MCP. Never
   * serves pages. Never rejects. Reads the caller from `req.auth`: that is `request.raw.auth` of fastify.
   *
   * @param parsedBody the body, if a middleware has parsed it. Default: `req.body`. A function, such as `next`, is
   * ignored.
   */
  readonly handle: (req: NodeRequest, res: ServerResponse, parsedBody?: unknown) => Promise<void>;
  /**
   * The same for hono and other runtimes with web requests. Reads the caller from `authInfo`. The runtime owns the
   * connection. It reports a hang-up by firing `request.signal` or by cancelling the response's body. The limits do not
   * cover its own buffers, and nobody ends a connection that its client does not read.
   */
  readonly fetch: (request: Request, options?: McpHandlerRequestOptions) => Promise<Response>;
  /**
   * Serves `pages`, for express, fastify and `node:http`. Route their paths here, in front of any parser of bodies. Never
   * serves MCP, so this route needs no authentication. Never rejects.
   *
   * @example app.use('/approve', mcp.handlePages); // express, with a page at /approve
   */
  readonly handlePages: (req: NodeRequest, res: ServerResponse) => Promise<void>;
  /** The same for hono and other runtimes with web requests. */
  readonly fetchPages: (request: Request) => Promise<Response>;
  /** Publishes changes to the subscriptions of new clients: `notify.toolsChanged()`. */
  readonly notify: ServerNotifier;
  /** For a route such as `/readyz`: whether the check of `readiness` passes. False from `close` on. Never rejects. */
  isReady(): Promise<boolean>;
  /**
   * Answers new requests with 503, lets calls in flight finish, aborts parked frames, ends sessions and streams. A call
   * that waits for its user also counts as in flight. Its answer would arrive as a new request, which a closing server
   * rejects, so the call ends after `drainSeconds`. Aborted handlers then get `drainSeconds` more. Your server stays open;
   * close it afterwards.
   */
  close(): Promise<void>;
}

/**
 * Serves `served` to clients of both eras at a route of your own. Old clients get sessions, new ones rounds.
 *
 * @throws InvalidOption for `served` without `server`, and for an unknown or invalid option.
 * @example
 * const mcp = createMcpMount({ server: createServer }, { allowedHosts: ['shop.example'] });
 * app.all('/mcp', mcp.handle); // express; on hono: app.all('/mcp', (c) => mcp.fetch(c.req.raw))
 */
export function createMcpMount(served: ServerInstance, options: MountOptions = {}): McpMount {
  return mount(served, options, checkOptions('createMcpMount', served, options, MOUNT_CHECKS));
}

/** Finds the pages above `path`. @internal */
export const findPages = (pages: readonly PageSet[] | undefined, path: string): PageSet | undefined =>
  pages?.find((set) => path.startsWith(`${set.path}/`));

/** Finds the target of a path: MCP, pages, or a fixed response. @internal */
export type Routes = (path: string) => 'mcp' | PageSet | Response | Promise<Response>;

const toMcp: Routes = () => 'mcp';

/** The mount of checked options. `handleRouted` routes by path. @internal */
export function mount(served: ServerInstance, options: MountOptions, limits: Limits) {
  const report = reporterOf(served, options.onerror);
  const checks = makeHttpChecks(served, options, limits);
  const toPages: Routes = (path) =>
    findPages(options.pages, path) ?? rejectHttp(404, 'http_invalid', 'Nothing is here');
  const askReadiness = makeReadiness(options.readiness, report);
  const connections = watchConnections();
  const drainMs = Math.ceil((options.drainSeconds ?? 10) * 1000);
  const inFlight = new Set<Outgoing>();
  let closed: Promise<void> | undefined;

  /** Serves a request of Node by its path. */
  async function handleRouted(
    routes: Routes,
    req: NodeRequest,
    res: ServerResponse,
    parsedBody?: unknown,
  ): Promise<void> {
    const { url, originalUrl = url } = req;
    // The client hung up before the request came here. `close` would not be emitted again.
    if (res.destroyed || req.socket.destroyed) return;
    if (closed) endConnectionAfter(res);
    connections.watch(res, req.socket);
    if (req.socket.destroyed) return;
    // Reject absolute URLs, which would override `Host`, and paths with `..`, which the router may resolve differently.
    if (!originalUrl?.startsWith('/') || HAS_DOTS.test(originalUrl))
      return void res.writeHead(400, { connection: 'close' }).end();
    const exchange: Exchange = {
      outgoing: res,
      incoming: req,
      parsedBody: typeof parsedBody === 'function' ? bodyOf(req) : (parsedBody ?? bodyOf(req)),
      authInfo: req.auth,
    };
    const listen = getRequestListener((request) => serveRoute(routes, request, exchange), {
      overrideGlobalObjects: false,
      errorHandler: fail,
    });
    // The adapter reads `url` at once. Express has cut off the path of the mount.
    req.url = originalUrl;
    const answered = listen(req, res);
    req.url = url;
    await answered;
  }

  async function fetchRouted(
    routes: Routes,
    request: Request,
    { authInfo, parsedBody }: McpHandlerRequestOptions = {},
  ) {
    const outgoing = new WebOutgoing();
    const end = () => outgoing.destroy();
    try {
      if (request.bodyUsed && parsedBody === undefined) throw bodyWasRead();
      const { body } = request;
      const incoming = body && parsedBody === undefined ? Readable.fromWeb(body as never) : undefined;
      // A client may break off a rejected body, which nobody reads.
      incoming?.on('error', () => {});
      const response = await serveRoute(routes, request, { outgoing, incoming, parsedBody, authInfo });
      if (response.headers.get('content-type')?.startsWith('text/event-stream'))
        return whenSent(request, response, end);
      end();
      return response;
    } catch (error) {
      end();
      return fail(error);
    }
  }

  async function serveRoute(routes: Routes, request: Request, exchange: Exchange) {
    const { outgoing } = exchange;
    const route = routes(new URL(request.url).pathname);
    // Count the request until its last byte is sent. The adapter's promises settle earlier.
    if (route !== 'mcp' || !standsOpen(request)) {
      inFlight.add(outgoing);
      void whenClosed(outgoing).then(() => inFlight.delete(outgoing));
    }
    if (route === 'mcp') return checks.serveMcp(request, exchange);
    return 'path' in route ? checks.servePage(route, request, exchange) : route;
  }

  /** The response to a request without an address, or after an error. */
  function fail(error: unknown) {
    return error instanceof RequestError ? new Response(null, { status: 400 }) : rejectFailed(error, report);
  }

  async function end() {
    checks.shut();
    const open = [...inFlight];
    for (const outgoing of open) endConnectionAfter(outgoing);
    await waitAtMost(Promise.all(open.map(whenClosed)), drainMs, () => {});
    try {
      await waitForHandlers(checks.close(), drainMs, report);
    } finally {
      connections.stop();
      for (const outgoing of inFlight) outgoing.destroy();
    }
  }

  const isLive = () => closed === undefined;
  return {
    notify: checks.notify,
    isLive,
    isReady: async () => isLive() && (await askReadiness()) && isLive(),
    handle: (req, res, parsedBody) => handleRouted(toMcp, req, res, parsedBody),
    fetch: (request, more) => fetchRouted(toMcp, request, more),
    handlePages: (req, res) => handleRouted(toPages, req, res),
    fetchPages: (request) => fetchRouted(toPages, request),
    handleRouted,
    close() {
      closed ??= end();
      return closed;
    },
  } satisfies McpMount & { handleRouted: unknown; isLive: unknown };
}

const HAS_DOTS = /^[^?#]*[/\\](?:\.|%2e){1,2}(?:[/\\?#]|$)/i;

/** The body that a middleware parsed. A parser of another content type sets an empty `body`, and reads nothing. */
const bodyOf = ({ readableEnded, body }: NodeRequest) => (readableEnded ? body : undefined);

/** Makes the client open another connection for its next request, so that it may reach another instance. */
function endConnectionAfter(outgoing: Outgoing) {
  if (!outgoing.headersSent) outgoing.setHeader('connection', 'close');
}

/** Whether the request stays open: an old client's standing stream, a new client's subscription. */
const standsOpen = ({ method, headers }: Request) =>
  method === 'GET' ||
  (headers.get('mcp-method') === 'subscriptions/listen' &&
    // Older clients do not send the header, so its absence does not matter.
    headers.get('mcp-protocol-version') === MRTR_REVISION);
