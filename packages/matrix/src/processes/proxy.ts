/** A reverse proxy over HTTP that sends requests to the instances in turn, like those in front of real fleets. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { proxyFetch } from 'httpxy';

/** The way to one deployment. */
export class Route {
  readonly url: URL;
  readonly #upstreams: readonly URL[];
  #turn = 0;
  /** The upstream that served the latest POST: the latest round of a call. */
  lastServed: number | undefined;
  /** Called with each request before it goes to an upstream. */
  onRequest: (upstream: number, body: string) => void = () => {};

  constructor(url: URL, upstreams: readonly URL[]) {
    this.url = url;
    this.#upstreams = upstreams;
  }

  /** Every upstream once, beginning with the next in turn. */
  *inTurn(): Generator<{ readonly at: number; readonly url: URL }> {
    const first = this.#turn;
    for (let next = 0; next < this.#upstreams.length; next++) {
      const at = (first + next) % this.#upstreams.length;
      this.#turn = at + 1;
      yield { at, url: this.#upstreams[at] as URL };
    }
  }
}

/** Listens on loopback, for any number of deployments. */
export class RoundRobinProxy {
  readonly #server: Server;
  readonly #routes = new Map<string, Route>();

  private constructor() {
    const errorHandler = () => new Response('The instance failed before it answered.', { status: 502 });
    this.#server = createServer(getRequestListener((request) => this.#forward(request), { errorHandler }));
  }

  /** Starts to listen. */
  static async listen(): Promise<RoundRobinProxy> {
    const proxy = new RoundRobinProxy();
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  /** Routes a new address to `upstreams`. */
  route(name: string, upstreams: readonly URL[]): Route {
    const { port } = this.#server.address() as AddressInfo;
    const route = new Route(new URL(`http://127.0.0.1:${port}/${name}`), upstreams);
    this.#routes.set(route.url.pathname, route);
    return route;
  }

  /** Routes nothing there any more. */
  unroute(route: Route): void {
    this.#routes.delete(route.url.pathname);
  }

  /** Cuts the remaining connections, and stops listening. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #forward(request: Request): Promise<Response> {
    const route = this.#routes.get(new URL(request.url).pathname);
    if (!route) return new Response(null, { status: 404 });
    const { method, signal } = request;
    const { connection: _, 'keep-alive': __, ...headers } = Object.fromEntries(request.headers);
    const body = await request.text();
    const init = { method, headers, signal, ...(body !== '' && { body }) };
    for (const { at, url } of route.inTurn()) {
      if (method === 'POST') route.onRequest(at, body);
      // A new connection: a kept one may lead to a process that was killed, and a POST is not sent twice.
      const answer = await proxyFetch(url.origin, url, init, { agent: false }).catch(unlessRefused);
      if (!answer) continue;
      if (method === 'POST') route.lastServed = at;
      return answer;
    }
    return new Response('No instance can be reached.', { status: 502 });
  }
}

/** Undefined if no process listens, so that none has seen the request. */
function unlessRefused(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ECONNREFUSED') throw error;
}
