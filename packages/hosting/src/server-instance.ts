import { InvalidOption, type McpServer } from '@mrtr/core';
import { OperatorWarning } from '@mrtr/core/events';
import {
  anObjectWith,
  listenerOf,
  noteListener,
  requireArgument,
  tellOperator,
  waitAtMost,
} from '@mrtr/core/internal';

/** A deployment's instance. It makes servers, and may own resources that outlive a request. */
export interface ServerInstance {
  /** Makes a server: one per request in stateless serving, otherwise one per connection or session. */
  server(): McpServer;
  /** Releases resources that outlive a request: aborts parked frames, for example. */
  close?(): Promise<void>;
}

/**
 * @throws InvalidOption for a value that cannot be hosted.
 * @internal
 */
export function requireInstance(caller: string, served: ServerInstance) {
  // A factory is easily called by mistake. An McpServer in place of `served` has a `server`, too.
  if (anObjectWith('connect').isAllowed(served?.server))
    throw new InvalidOption(
      `${caller}: give a function that makes a server, not a server: { server: createServer }. Each session, and each ` +
        'request of a new client, gets a server of its own.',
    );
  const closes = typeof served === 'object' && served?.close !== undefined;
  requireArgument(caller, 'served', served, anObjectWith('server', ...(closes ? ['close'] : [])));
}

/** Receives the reasons that clients do not see: of rejected request states, of client errors, of failures. */
export type OnError = (error: Error) => void;

/** The `onerror` of the policy of each instance's latest server. */
const policyListeners = new WeakMap<ServerInstance, OnError | undefined>();

/** Makes a server that reports to `onerror`, or else to its policy's, unless it has its own. */
export function buildServer(served: ServerInstance, onerror: OnError | undefined): McpServer {
  const server = served.server();
  policyListeners.set(served, listenerOf(server));
  const listener = onerror ?? listenerOf(server);
  if (listener) server.server.onerror ??= noteListener((error) => listener(shorten(error)), listener);
  guardOnClose(server, listener);
  return server;
}

/** Reports errors of a hosting to its `onerror`, or else to the policy's, which is known from the first server on. */
export const reporterOf =
  (served: ServerInstance, onerror: OnError | undefined): OnError =>
  (error) =>
    tellOperator(error, onerror ?? policyListeners.get(served));

/** Catches the errors of the author's `onclose`. Nobody awaits the end of the server, so they would end the process. */
function guardOnClose({ server }: McpServer, onerror: OnError | undefined) {
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
function shorten(error: Error) {
  const { message } = error;
  if (message.length <= MAX_MESSAGE) return error;
  error.message = `${message.slice(0, MAX_MESSAGE)}… (${message.length} characters)`;
  if (error.stack) error.stack = error.stack.replace(message, () => error.message);
  return error;
}

const MAX_MESSAGE = 2_000;

/** Waits for `end`, at most `ms` milliseconds. Reports to `onerror` if that was not enough. */
export async function waitForHandlers(end: Promise<unknown>, ms: number, onerror: OnError) {
  await waitAtMost(end, ms, () =>
    onerror(
      new OperatorWarning(
        'handlers_abandoned',
        `Handlers were still running ${ms} ms after the server began to close, so it closed without them. Make handlers ` +
          'end when ctx.signal fires.',
      ),
    ),
  );
}
