/** Where a server runs: what a client's transport is plugged into. */

import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import type { RunningOption } from '@mrtr/contract';
import type { HostingKind } from './conversation.ts';

/** A running deployment. */
export interface Hosting {
  /** The HTTP face, without a socket. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** An instance, for a connection of its own. */
  readonly instance: () => RunningOption;
  /** Frames that all instances together hold in memory now. */
  readonly framesHeld: () => number;
  close(): Promise<void>;
}

const FLEET = 3;

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
    fetch: async (url, init) => (await route()).handler.fetch(new Request(url, init)),
    instance: () => (instances[0] as Instance).running,
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
