/** Where a server runs: what a client's transport is plugged into. */

import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import type { RunningOption } from '@mrtr/contract';
import type { McpServer } from '@mrtr/core';
import type { HostingKind } from './conversation.ts';

/** What a client's transport is plugged into: an HTTP face (with a `fetch` of its own where there is no socket), or
 * one end of a pair. */
export type Endpoint =
  | {
      readonly kind: 'http';
      readonly url: URL;
      readonly fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>;
    }
  | { readonly kind: 'pair'; readonly server: McpServer };

/** A running deployment. */
export interface Hosting {
  /** Where a client of one of the two eras connects; each connection asks anew. */
  readonly endpoint: (era: 'legacy' | 'modern') => Endpoint;
  /** Frames that all instances together hold in memory now. */
  readonly framesHeld: () => number;
  close(): Promise<void>;
}

const FLEET = 3;
const NO_SOCKET = new URL('http://mrtr.invalid/mcp');

/** Starts a deployment of `create`. */
export function host(kind: HostingKind, create: () => RunningOption): Hosting {
  let instances = Array.from({ length: kind === 'fleet' ? FLEET : 1 }, () => new Instance(create()));
  let requests = 0;
  const stopAll = async () => {
    await Promise.all(instances.map((instance) => instance.stop()));
  };
  const route = async (): Promise<Instance> => {
    if (kind === 'restart' && requests > 0) {
      await stopAll();
      instances = [new Instance(create())];
    }
    return instances[requests++ % instances.length] as Instance;
  };
  return {
    endpoint: (era) =>
      era === 'legacy' && kind === 'memory'
        ? { kind: 'pair', server: (instances[0] as Instance).running.server() }
        : {
            kind: 'http',
            url: NO_SOCKET,
            fetch: async (url, init) => (await route()).handler.fetch(new Request(url, init)),
          },
    framesHeld: () => instances.reduce((sum, { running }) => sum + (running.framesHeld?.() ?? 0), 0),
    close: stopAll,
  };
}

class Instance {
  readonly running: RunningOption;
  readonly handler: McpHttpHandler;

  constructor(running: RunningOption) {
    this.running = running;
    this.handler = createMcpHandler(() => running.server());
  }

  async stop(): Promise<void> {
    await this.handler.close();
    await this.running.close();
  }
}
