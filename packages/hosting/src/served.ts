/** What can be hosted. */
import type { McpServer } from '@mrtr/core';

/** A deployment's instance: makes servers, and ends with everything that outlives a request. */
export interface Served {
  /** A new server: per request on stateless serving, per connection or session elsewhere. */
  server(): McpServer;
  /** Releases whatever outlives a request: parked frames are aborted. */
  close(): Promise<void>;
}

/** Who is told what the wire is not: why a request state was refused, what a client did wrong, what failed. */
export type OnError = (error: Error) => void;

/** A new server that reports to `onerror`, unless it has an `onerror` of its own. */
export function reporting(served: Served, onerror: OnError | undefined): McpServer {
  const server = served.server();
  if (onerror) server.server.onerror ??= onerror;
  return server;
}
