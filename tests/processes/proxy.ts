/** A reverse proxy over HTTP that deals requests out in turn, as the ones in front of real fleets do. */
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** The way to one deployment. */
export class Route {
  readonly url: URL;
  readonly #upstreams: readonly URL[];
  #turn = 0;
  /** Which upstream served the latest POST: the latest round of a call. */
  lastServed: number | undefined;

  constructor(url: URL, upstreams: readonly URL[]) {
    this.url = url;
    this.#upstreams = upstreams;
  }

  /** Every upstream once, the one whose turn it is first. */
  *inTurn(): Generator<{ readonly at: number; readonly url: URL }> {
    const first = this.#turn;
    for (let next = 0; next < this.#upstreams.length; next++) {
      const at = (first + next) % this.#upstreams.length;
      this.#turn = at + 1;
      yield { at, url: this.#upstreams[at] as URL };
    }
  }
}

// A connection per request: a kept one may be to a process that has been killed, and a POST is not sent twice.
const agent = new Agent({ keepAlive: false });

/** Listens on loopback, for any number of deployments. */
export class RoundRobinProxy {
  readonly #server: Server;
  readonly #routes = new Map<string, Route>();

  private constructor() {
    this.#server = createServer((incoming, outgoing) => void this.#forward(incoming, outgoing));
  }

  /** Starts to listen. */
  static async listen(): Promise<RoundRobinProxy> {
    const proxy = new RoundRobinProxy();
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  /** Routes an address of its own to `upstreams`. */
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

  /** Cuts what is left, and stops listening. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const route = this.#routes.get(incoming.url ?? '');
    if (!route) return void outgoing.writeHead(404).end();
    try {
      const body = await buffer(incoming);
      for (const { at, url } of route.inTurn()) {
        const answer = await ask(url, incoming, body, outgoing);
        if (!answer) continue;
        if (incoming.method === 'POST') route.lastServed = at;
        outgoing.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
        // So that a client sees that the stream is there before anything is on it.
        outgoing.flushHeaders();
        answer.on('error', () => outgoing.destroy()).pipe(outgoing);
        return;
      }
      outgoing.writeHead(502).end('No instance can be reached.');
    } catch {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502).end('The instance failed before it answered.');
    }
  }
}

/** Asks one upstream; undefined where nobody listens there, so that nothing of the request has been seen. */
function ask(
  url: URL,
  { method, headers }: IncomingMessage,
  body: Buffer,
  outgoing: ServerResponse,
): Promise<IncomingMessage | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: method ?? 'GET', headers: endToEnd(headers), agent }, resolve);
    outgoing.once('close', () => asked.destroy());
    asked.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') resolve(undefined);
      else reject(error);
    });
    asked.end(body);
  });
}

/** Without what is about one connection only. */
function endToEnd({
  connection: _connection,
  'keep-alive': _keepAlive,
  ...headers
}: IncomingHttpHeaders): IncomingHttpHeaders {
  return headers;
}
