/** What can be hosted. */
import type { McpServer } from '@mrtr/core';
import { anObjectWith, requireArgument, tellOperator } from '@mrtr/core/kit';

/** A deployment's instance: makes servers, and may hold what outlives a request. */
export interface ServerInstance {
  /** A new server: per request on stateless serving, per connection or session elsewhere. */
  server(): McpServer;
  /** Releases what outlives a request, if anything does: parked frames are aborted. */
  close?(): Promise<void>;
}

/** @throws InvalidOption for what cannot be hosted */
export function requireInstance(caller: string, served: ServerInstance): void {
  const closes = typeof served === 'object' && served?.close !== undefined;
  requireArgument(caller, 'served', served, anObjectWith('server', ...(closes ? ['close'] : [])));
}

/** Gets what the wire is not told: why a request state was refused, what a client did wrong, what failed. */
export type OnError = (error: Error) => void;

/** A new server that reports to `onerror`, unless it has an `onerror` of its own. */
export function buildServer(served: ServerInstance, onerror: OnError | undefined): McpServer {
  const server = served.server();
  if (onerror) server.server.onerror ??= (error) => onerror(shorten(error));
  guardOnClose(server, onerror);
  return server;
}

/** Nobody awaits the server that ends with its request: an `onclose` of the author that throws would end the process. */
function guardOnClose({ server }: McpServer, onerror: OnError | undefined): void {
  const report = (error: unknown) => tellOperator(error, server.onerror ?? onerror);
  const guard = (onclose: typeof server.onclose) =>
    onclose &&
    (() => {
      try {
        Promise.resolve(onclose() as unknown).catch(report);
      } catch (error) {
        report(error);
      }
    });
  let now = guard(server.onclose);
  Object.defineProperty(server, 'onclose', {
    configurable: true,
    get: () => now,
    set: (onclose: typeof now) => {
      now = guard(onclose);
    },
  });
}

/** The SDK puts a message of the client into some of its errors, whole: up to 1 MiB, with a copy in the stack. */
function shorten(error: Error): Error {
  const { message } = error;
  if (message.length <= MAX_MESSAGE) return error;
  error.message = `${message.slice(0, MAX_MESSAGE)}… (${message.length} characters)`;
  if (error.stack) error.stack = error.stack.replace(message, () => error.message);
  return error;
}

const MAX_MESSAGE = 2_000;
