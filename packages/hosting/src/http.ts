/** HTTP hosting on Node: both eras on one port, with the checks that a server on a network needs. */
import { once, setMaxListeners } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server';
import type { ServerNotifier } from '@modelcontextprotocol/server';
import { MRTR_REVISION } from '@mrtr/core';
import {
  anObjectWith,
  aText,
  aTimeInSeconds,
  type OptionChecks,
  requireArgument,
  requireOptions,
  tellOperator,
  wholeNumber,
} from '@mrtr/core/kit';
import { internalError } from './admission/problem.ts';
import { closeResponsesWithConnection } from './http/closed-connections.ts';
import { ADMISSION_CHECKS, type AdmissionOptions, HttpAdmission } from './http/http-admission.ts';
import { SESSION_CHECKS } from './http/sessions.ts';
import { endStalledConnections, SEND_SECONDS } from './http/stalled-connections.ts';
import type { OnError, ServerInstance } from './instance/server-instance.ts';
import { waitAtMost } from './instance/wait-at-most.ts';

export { listVerifier, parseTokenList, type TokenHolder } from './admission/bearer-tokens.ts';
export type { BodyLimits } from './admission/body.ts';
export type { CallLimits } from './admission/call-quota.ts';
export type { PageSet } from './http/http-admission.ts';
export type { SessionLimits } from './http/sessions.ts';
export type { UnreadLimits } from './http/unread-bytes.ts';
export type { OnError, ServerInstance } from './instance/server-instance.ts';

/** The options of {@link serveHttp}. All have defaults. */
export interface HttpOptions extends AdmissionOptions {
  /** Address to bind. Default `127.0.0.1`: whoever wants to be reachable has to say so. */
  readonly host?: string;
  /** Default 0, any free port. */
  readonly port?: number;
  /** How long `close` waits for calls in flight, in seconds. Default 10. */
  readonly drainSeconds?: number;
  /**
   * How long a connection may have bytes to send and send none, in seconds, because its client does not read. Then it is
   * ended, and so are its calls. Default 60.
   */
  readonly sendSeconds?: number;
}

const CHECKS: OptionChecks<HttpOptions> = {
  ...ADMISSION_CHECKS,
  host: aText,
  port: wholeNumber(0, 65_535),
  drainSeconds: aTimeInSeconds,
  sendSeconds: aTimeInSeconds,
};

/** A listening server. */
export interface HttpHosting {
  readonly url: URL;
  /** Publishes changes to the subscriptions of new clients: `notify.toolsChanged()`. */
  readonly notify: ServerNotifier;
  /**
   * Takes no new connections, lets calls in flight finish, aborts parked frames, and closes what is left. Until then,
   * new requests on open connections get 503. A call that waits for its user is in flight, and its answer would come in
   * anew: it is cut after `drainSeconds`. Handlers that do not end when they are told to have `drainSeconds` once more.
   */
  close(): Promise<void>;
}

/**
 * Listens, and serves `served` to clients of both eras. `GET /healthz` answers 200 while it does, 503 while it closes.
 *
 * @throws InvalidOption for `served` without its two functions, and for an option that does not exist or has a value that
 * it cannot have.
 * @throws Error with Node's `code` where the address cannot be had: `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`, …
 */
export async function serveHttp(served: ServerInstance, options: HttpOptions = {}): Promise<HttpHosting> {
  requireArgument('serveHttp', 'served', served, anObjectWith('server', 'close'));
  requireOptions('serveHttp', options, CHECKS);
  const { sessionLimits = {} } = options;
  requireOptions('sessionLimits', sessionLimits, SESSION_CHECKS);
  const {
    host = '127.0.0.1',
    port = 0,
    path = '/mcp',
    drainSeconds = 10,
    sendSeconds = SEND_SECONDS,
  } = options;
  const report: OnError = (error) => tellOperator(error, options.onerror);
  const gate = new HttpAdmission(served, { ...options, path });
  const handle = getRequestListener((request, node) => gate.fetch(request, node as HttpBindings), {
    overrideGlobalObjects: false,
    errorHandler: (error) => failure(error, report),
  });
  const inFlight = new Set<ServerResponse>();
  let closed: Promise<void> | undefined;
  const server = createServer((req, res) => {
    if (closed) endConnectionAfter(res);
    // Counted until the last byte has left: the adapter's promises are over earlier than that.
    if (!standsOpen(req, path)) inFlight.add(res.once('close', () => inFlight.delete(res)));
    // A whole URL would be taken for what the request is for, whatever its `Host` says.
    if (!req.url?.startsWith('/')) return void res.writeHead(400, { connection: 'close' }).end();
    void handle(req, res);
  });
  closeResponsesWithConnection(server);
  endStalledConnections(server, sendSeconds);
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: new URL(`http://${name}:${address.port}${path}`),
    notify: gate.notify,
    close: () => {
      closed ??= close(server, gate, inFlight, drainSeconds, report);
      return closed;
    },
  };
}

async function close(
  server: Server,
  gate: HttpAdmission,
  inFlight: Set<ServerResponse>,
  seconds: number,
  report: OnError,
): Promise<void> {
  gate.shut();
  // `server.close` calls this, on Node 26 also for unused connections: a health check on one would get no answer.
  server.closeIdleConnections = () => {};
  const closed = new Promise((resolve) => server.close(resolve));
  for (const res of inFlight) endConnectionAfter(res);
  const ms = Math.ceil(seconds * 1000);
  const signal = AbortSignal.timeout(ms);
  setMaxListeners(0, signal);
  await Promise.allSettled([...inFlight].map((res) => once(res, 'close', { signal })));
  try {
    await waitAtMost(gate.close(), ms, report);
  } finally {
    server.closeAllConnections();
    await closed;
  }
}

/** Tells the client to send its next request on another connection, so that it may reach another instance. */
function endConnectionAfter(res: ServerResponse): void {
  if (!res.headersSent) res.setHeader('connection', 'close');
}

/** Whether nobody waits for the end of this one: an old client's standing stream, a new one's subscription. */
const standsOpen = (req: IncomingMessage, path: string): boolean =>
  (req.method === 'GET' && req.url?.split('?')[0] === path) ||
  (req.headers['mcp-method'] === 'subscriptions/listen' &&
    // An older client has no such header, so it says nothing about what it sent.
    req.headers['mcp-protocol-version'] === MRTR_REVISION);

/** The answer to a request that has no address, or that could not be answered. */
const failure = (error: unknown, report: OnError): Response =>
  error instanceof RequestError ? new Response(null, { status: 400 }) : internalError(error, report);
