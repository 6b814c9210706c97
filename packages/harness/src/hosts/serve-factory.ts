/** Serves a factory without a socket. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import type { HttpFace } from './posting.ts';

// One for the process: on Node 20, each that was used once costs every later promise.
const failures = new AsyncLocalStorage<Error[]>();
const onerror = (error: Error) => failures.getStore()?.push(error);

/** A request that the SDK answers with HTTP 500 rejects instead, with the error that the response leaves out. */
export function serveFactory(server: () => McpServer): HttpFace & { close(): Promise<void> } {
  const handler = createMcpHandler(server, { onerror });
  return {
    fetch: (request, options) =>
      failures.run([], async () => {
        const response = await handler.fetch(request, options);
        const cause = failures.getStore()?.at(-1);
        if (response.status !== 500 || !cause) return response;
        throw new Error(`The server's factory failed: ${cause.message}`, { cause });
      }),
    close: () => handler.close(),
  };
}
