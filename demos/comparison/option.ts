/** What an option's `server.ts` exports, and what runs of it. */
import type { McpServer, RequestStatePolicy } from '@mrtr/core';
import type { World } from './world.ts';

/** What an option's `openStore` gets, once for each instance of a deployment. */
export interface StoreOptions {
  /** For request state, and (`legacy`) for old clients. */
  readonly policy: RequestStatePolicy;
  /** This instance's name in the router. */
  readonly instance?: string | undefined;
  /** The connection string of a PostgreSQL. */
  readonly postgres?: string | undefined;
}

/** The calls of an instance that wait for their users: they outlive a request. */
export interface CallStore {
  /** The handlers parked in this instance's memory. */
  readonly parked: number;
  /** Resolves when a database is connected, if there is one. */
  readonly ready?: Promise<unknown>;
  close(): Promise<void>;
}

/** What an option's `server.ts` exports. */
export interface OptionModule {
  /** Makes a server with both tools: for each request on stateless hosting, otherwise for each connection. */
  createServer(world: World, policy: RequestStatePolicy, store?: CallStore): McpServer;
  /** Absent if nothing outlives a request. */
  openStore?(options: StoreOptions): CallStore;
}

/** What an instance of an option runs with. */
export interface OptionDeps extends StoreOptions {
  readonly world: World;
}

/** A running option: one instance of a deployment. */
export interface RunningOption {
  server(): McpServer;
  readonly store?: CallStore | undefined;
  /** The handlers parked in this instance's memory. Absent if the shape does not park handlers. */
  readonly framesHeld?: () => number;
  /** Releases everything that outlives a request. */
  close(): Promise<void>;
}

/** Starts one instance of an option. */
export function runOption(
  { createServer, openStore }: OptionModule,
  { world, ...rest }: OptionDeps,
): RunningOption {
  const store = openStore?.(rest);
  return {
    server: () => createServer(world, rest.policy, store),
    ...(store && { store, framesHeld: () => store.parked }),
    close: async () => store?.close(),
  };
}
