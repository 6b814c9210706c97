/** Where a server runs: what a client's transport is plugged into. */

import { createMcpHandler } from '@modelcontextprotocol/server';
import type { McpServer } from '@mrtr/core';
import type { RunningOption } from '@mrtr/tools';
import type { LocalHostingKind, SelfHosted } from './conversation.ts';

/** What a client's transport is plugged into: an HTTP face (with a `fetch` of its own where there is no socket), one
 * end of a pair, or a program to start and talk to over its stdin and stdout. */
export type Endpoint =
  | {
      readonly kind: 'http';
      readonly url: URL;
      readonly fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>;
    }
  | { readonly kind: 'pair'; readonly server: McpServer }
  | ({ readonly kind: 'stdio' } & Program);

/** A command line, and what goes into its environment. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A running deployment. */
export interface Hosting {
  /** Where a client of one of the two eras connects; each connection asks anew. */
  readonly endpoint: (era: 'legacy' | 'modern') => Endpoint;
  /** Frames that all instances together hold in memory now. When it is told, so is all that happened before. */
  readonly framesHeld: () => number | Promise<number>;
  close(): Promise<void>;
}

const FLEET = 3;
const NO_SOCKET = new URL('http://mrtr.invalid/mcp');

/** Starts a deployment of `create` in this process. */
export function host(kind: LocalHostingKind, create: () => RunningOption | SelfHosted): Hosting {
  let instances = Array.from({ length: kind === 'fleet' ? FLEET : 1 }, () => new Instance(create()));
  let requests = 0;
  const stopAll = async () => {
    await Promise.all(instances.map((instance) => instance.stop()));
  };
  // Messages may come at once, each with a restart of its own; one that comes when all is over has none.
  let restarted: Promise<void> = Promise.resolve();
  let over = false;
  const restart = async () => {
    await stopAll();
    instances = [new Instance(create())];
  };
  const route = async (method: string | undefined): Promise<Instance> => {
    // What brings no message asks for a stream, while the call that goes out beside it is being served.
    if (kind === 'restart' && requests > 0 && method === 'POST' && !over) restarted = restarted.then(restart);
    await restarted;
    return instances[requests++ % instances.length] as Instance;
  };
  return {
    endpoint: (era) =>
      era === 'legacy' && kind === 'memory'
        ? { kind: 'pair', server: (instances[0] as Instance).server() }
        : {
            kind: 'http',
            url: NO_SOCKET,
            fetch: async (url, init) => (await route(init?.method)).face.fetch(new Request(url, init)),
          },
    framesHeld: () => instances.reduce((sum, instance) => sum + instance.framesHeld, 0),
    close: async () => {
      over = true;
      await restarted;
      await stopAll();
    },
  };
}

class Instance {
  readonly face: SelfHosted;
  readonly #running: RunningOption | SelfHosted;

  constructor(running: RunningOption | SelfHosted) {
    this.#running = running;
    this.face = 'fetch' in running ? running : createMcpHandler(() => running.server());
  }

  server(): McpServer {
    if ('fetch' in this.#running) throw new Error('A server that hosts itself can be reached by HTTP only.');
    return this.#running.server();
  }

  get framesHeld(): number {
    return 'fetch' in this.#running ? 0 : (this.#running.framesHeld?.() ?? 0);
  }

  async stop(): Promise<void> {
    await this.face.close();
    if (this.#running !== this.face) await this.#running.close();
  }
}
