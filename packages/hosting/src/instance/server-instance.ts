import type { McpServer } from '@mrtr/core';
import { anObjectWith, requireArgument, tellOperator } from '@mrtr/core/kit';

/** A deployment's instance. It makes servers, and may own resources that outlive a request. */
export interface ServerInstance {
  /** Makes a server: one per request in stateless serving, otherwise one per connection or session. */
  server(): McpServer;
  /** Releases resources that outlive a request: aborts parked frames, for example. */
  close?(): Promise<void>;
}

/** @throws InvalidOption for a value that cannot be hosted. */
export function requireInstance(caller: string, served: ServerInstance): void {
  const closes = typeof served === 'object' && served?.close !== undefined;
  requireArgument(caller, 'served', served, anObjectWith('server', ...(closes ? ['close'] : [])));
}

/** Receives the reasons that clients do not see: of rejected request states, of client errors, of failures. */
export type OnError = (error: Error) => void;

/** Makes a server that reports to `onerror`, unless it has its own. */
export function buildServer(served: ServerInstance, onerror: OnError | undefined): McpServer {
  const server = served.server();
  if (onerror) server.server.onerror ??= (error) => onerror(shorten(error));
  guardOnClose(server, onerror);
  return server;
}

/** Catches the errors of the author's `onclose`. Nobody awaits the end of the server, so they would end the process. */
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

/** Some errors of the SDK quote the client's whole message: up to 1 MiB, with a copy in the stack. */
function shorten(error: Error): Error {
  const { message } = error;
  if (message.length <= MAX_MESSAGE) return error;
  error.message = `${message.slice(0, MAX_MESSAGE)}… (${message.length} characters)`;
  if (error.stack) error.stack = error.stack.replace(message, () => error.message);
  return error;
}

const MAX_MESSAGE = 2_000;
