/** Hosts a server in this process, without a socket. */
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import { type Fetch, type Hosting, NO_SOCKET } from './endpoint.ts';
import { currentRecorder, inInstance } from './recorder.ts';

/**
 * How a server is hosted in this process. `memory`: one instance; an old client has a connection of its own. `fleet`:
 * three instances behind a round robin, stateless. `restart`: one instance, which is thrown away and created anew
 * before every further request.
 */
export type LocalHostingKind = 'memory' | 'fleet' | 'restart';

/** One instance of a server: it makes an `McpServer` for each request or connection, or it serves HTTP by itself. */
export type ServerInstance = McpInstance | HttpInstance;

/** Makes servers. */
export interface McpInstance {
  /** A new server; called for each request on stateless hosting, for each connection elsewhere. */
  server(): McpServer;
  /** Handlers parked in this instance's memory now. */
  readonly framesHeld?: (() => number) | undefined;
  /** Releases what outlives a request. */
  close?(): Promise<void>;
}

/** Serves HTTP by itself, such as a server on an old SDK. */
export interface HttpInstance {
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

const FLEET = ['i1', 'i2', 'i3'] as const;
const [SOLE] = FLEET;

/**
 * Starts a server in this process; `create` makes each of its instances.
 *
 * @example
 * const hosting = host('fleet', () => ({ server: () => createMyServer() }));
 */
export function host(kind: LocalHostingKind, create: () => ServerInstance): Hosting {
  const ids = kind === 'fleet' ? FLEET : [SOLE];
  let instances = ids.map((id) => new Running(id, create()));
  let requests = 0;
  const stopAll = async () => {
    await Promise.all(instances.map((instance) => instance.stop()));
  };
  // Messages may come at once, each with a restart of its own; one that comes when all is over has none.
  let restarted: Promise<void> = Promise.resolve();
  let over = false;
  const restart = async () => {
    await stopAll();
    instances = [new Running(SOLE, create())];
    currentRecorder()?.record({ kind: 'restart', instance: SOLE });
  };
  const fetch: Fetch = async (url, init) => {
    const message = init?.method === 'POST';
    // A GET asks for a stream, while the call that goes out beside it is being served.
    if (kind === 'restart' && requests > 0 && message && !over) restarted = restarted.then(restart);
    await restarted;
    const instance = instances[requests++ % instances.length] as Running;
    if (message) currentRecorder()?.routed(instance.id, String(init?.body));
    return inInstance(instance.id, () => instance.face.fetch(new Request(url, init)));
  };
  return {
    instances: ids,
    endpoint: (era) =>
      era === 'legacy' && kind === 'memory'
        ? { kind: 'memory', server: (instances[0] as Running).server() }
        : { kind: 'http', url: NO_SOCKET, fetch },
    framesHeld: () => instances.reduce((sum, instance) => sum + instance.framesHeld, 0),
    close: async () => {
      over = true;
      await restarted;
      await stopAll();
    },
  };
}

class Running {
  readonly id: string;
  readonly face: HttpInstance;
  readonly #instance: ServerInstance;

  constructor(id: string, instance: ServerInstance) {
    this.id = id;
    this.#instance = instance;
    this.face = 'fetch' in instance ? instance : createMcpHandler(() => instance.server());
  }

  server(): McpServer {
    if ('fetch' in this.#instance) throw new Error('A server that hosts itself can be reached by HTTP only.');
    return this.#instance.server();
  }

  get framesHeld(): number {
    return 'fetch' in this.#instance ? 0 : (this.#instance.framesHeld?.() ?? 0);
  }

  async stop(): Promise<void> {
    await this.face.close();
    if (this.#instance !== this.face) await this.#instance.close?.();
  }
}

/** A hosting in which every retry is delivered twice, as a network may. */
export interface TwiceHosting extends Hosting {
  /** Whether both deliveries of every retry so far were answered alike. */
  readonly answeredAlike: () => boolean;
}

/**
 * The same hosting, with every retry (a request that brings `inputResponses`) delivered twice. The client gets the
 * second answer.
 *
 * @example
 * const twice = retriesTwice(host('memory', create));
 * await converse(request, () => twice);
 * expect(twice.answeredAlike()).toBe(true);
 */
export function retriesTwice(hosting: Hosting): TwiceHosting {
  let alike = true;
  return {
    ...hosting,
    answeredAlike: () => alike,
    endpoint: (era) => {
      const endpoint = hosting.endpoint(era);
      if (endpoint.kind !== 'http') throw new Error('Retries are delivered twice over HTTP only.');
      const deliver: Fetch = endpoint.fetch ?? fetch;
      return {
        ...endpoint,
        fetch: async (url, init) => {
          if (!String(init?.body).includes('"inputResponses"')) return deliver(url, init);
          const first = await deliver(url, init);
          const second = await deliver(url, init);
          const [one, other] = await Promise.all([first.text(), second.clone().text()]);
          alike &&= one === other;
          return second;
        },
      };
    },
  };
}
