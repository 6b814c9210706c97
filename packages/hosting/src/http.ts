/** HTTP hosting: both eras at a route of your own, or on a port. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServerNotifier } from '@modelcontextprotocol/server';
import { aText, type OptionCheck, type OptionChecks, wholeNumber } from '@mrtr/core/internal';
import { findPages, mount, type Routes } from './mount.ts';
import { checkOptions, MOUNT_CHECKS, type MountOptions } from './options.ts';
import { rejectHttp } from './rejections.ts';
import type { ServerInstance } from './server-instance.ts';

export { listVerifier } from './list-verifier.ts';
export { createMcpMount, type McpMount } from './mount.ts';
export type { MountOptions } from './options.ts';
export type { PageSet } from './pages.ts';
export type { ServerInstance } from './server-instance.ts';

/** The options of {@link serveHttp}. All have defaults. */
export interface HttpOptions extends MountOptions {
  /** The address to bind. Default `127.0.0.1`, which other machines cannot reach. */
  readonly host?: string;
  /** Default 0, any free port. */
  readonly port?: number;
  /** Default `/mcp`. */
  readonly path?: string;
}

const aPath: OptionCheck = {
  allowed: "a path that begins with '/'",
  isAllowed: (value) => typeof value === 'string' && value.startsWith('/'),
  quotesText: true,
};

const CHECKS: OptionChecks<HttpOptions> = {
  ...MOUNT_CHECKS,
  host: aText,
  port: wholeNumber(0, 65_535),
  path: aPath,
};

/** A listening server. */
export interface HttpHosting {
  readonly url: URL;
  /** Publishes changes to the subscriptions of new clients: `notify.toolsChanged()`. */
  readonly notify: ServerNotifier;
  /**
   * Accepts no new connections, and closes as {@link McpMount} does. Until then, new requests on open connections get 503.
   */
  close(): Promise<void>;
}

/**
 * Serves `served` to clients of both eras on a port of its own, with {@link createMcpMount}. `GET /healthz` answers 200
 * while it listens, and `GET /readyz` while `readiness` answers. Both answer 503 while it closes.
 *
 * @throws InvalidOption for `served` without `server`, and for an unknown or invalid option.
 * @throws Error with Node's `code` if it cannot bind the address: `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`, …
 * @example
 * const { url, close } = await serveHttp({ server: createServer }, { port: 3000 });
 */
export async function serveHttp(served: ServerInstance, options: HttpOptions = {}): Promise<HttpHosting> {
  const limits = checkOptions('serveHttp', served, options, CHECKS);
  const { host = '127.0.0.1', port = 0, path = '/mcp', pages } = options;
  // A few paths need no router. Hono's would serve HEAD as GET, and so open a standing stream that nobody reads.
  const routes: Routes = (pathname) => {
    if (pathname === path) return 'mcp';
    if (pathname === '/healthz') return health(isLive() ? 'ok' : 'closing');
    if (pathname === '/readyz') return isReady().then((ready) => health(ready ? 'ready' : 'not ready'));
    return (
      findPages(pages, pathname) ?? rejectHttp(404, 'http_invalid', `Nothing is here; MCP is at ${path}`)
    );
  };
  const { handleRouted, isLive, isReady, notify, close } = mount(served, options, limits);
  const server = createServer((req, res) => void handleRouted(routes, req, res));
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: new URL(`http://${name}:${address.port}${path}`),
    notify,
    close: async () => {
      const ended = close();
      // `server.close` calls this. On Node 26 it also closes unused connections, on which a health check may be coming.
      server.closeIdleConnections = () => {};
      const closed = new Promise((resolve) => server.close(resolve));
      try {
        await ended;
      } finally {
        server.closeAllConnections();
        await closed;
      }
    },
  };
}

const health = (text: 'ok' | 'ready' | 'closing' | 'not ready') =>
  new Response(text, { status: text === 'ok' || text === 'ready' ? 200 : 503 });
