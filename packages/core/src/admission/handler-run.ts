/** What happened to the author's handler while the SDK served a request. The SDK does not say. */
import type { ServerContext } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/**
 * One run of a handler. `McpServer` refuses some requests before it calls the handler (an unknown or disabled tool,
 * arguments that do not fit), and makes a result of what a tool throws. Both look like results from outside.
 */
export interface HandlerRun {
  /**
   * Whether the author's code was entered. `unseen`: the handler was not called in a way that is watched. An author can
   * assign to `registered.executor`, for example.
   */
  entry: 'unseen' | 'entered' | 'refused';
  threw: boolean;
}

const RUN = Symbol.for('mrtr.handler-run');

type ContextWithRun = ServerContext & { [RUN]?: HandlerRun };

/** The same context, which carries `run`. A symbol key, because the SDK spreads contexts and a spread keeps it. */
export const withHandlerRun = (ctx: ServerContext, run: HandlerRun): ServerContext =>
  Object.assign(ctx, { [RUN]: run });

/**
 * Calls the author's handler, and notes in `ctx` that it was entered, and whether it threw.
 *
 * @throws the signal's reason, without calling it, where the client has gone meanwhile: a schema may take its time.
 */
export async function runHandler<T>(ctx: ServerContext | undefined, handler: () => T): Promise<Awaited<T>> {
  const run = (ctx as ContextWithRun | undefined)?.[RUN];
  if (!run) return handler() as Awaited<T>;
  run.entry = 'refused';
  ctx?.mcpReq.signal.throwIfAborted();
  run.entry = 'entered';
  try {
    const result = await handler();
    if (isNotEntered(result)) run.entry = 'refused';
    return result;
  } catch (error) {
    run.threw = true;
    if (isNotEntered(error)) run.entry = 'refused';
    throw error;
  }
}

const NOT_ENTERED = Symbol.for('mrtr.not-entered');

/**
 * Marks a shape's result or error: no code of the author ran in this round. The lease on its token is given back, and a
 * retry that reaches the right instance, or the right version, is served.
 */
export function asNotEntered<T>(outcome: T): T {
  if (Object.isExtensible(outcome)) Object.defineProperty(outcome, NOT_ENTERED, { value: true });
  return outcome;
}

/** Whether {@link asNotEntered} marked it. */
export const isNotEntered = (outcome: unknown): boolean =>
  (outcome as { [NOT_ENTERED]?: boolean } | null | undefined)?.[NOT_ENTERED] === true;

/**
 * Whether an error is one with which `McpServer` refuses a request before it calls a handler. In doubt it is not: a lease
 * that is given back wrongly lets an effect happen twice.
 */
export const isRefusalOfSdk = (error: unknown): boolean =>
  error instanceof ProtocolError &&
  (error.code === ProtocolErrorCode.InvalidParams || error.code === ProtocolErrorCode.ResourceNotFound);

/** The same of a tool's result: `McpServer` makes one of arguments that do not fit. */
export function isRefusedInput(result: unknown): boolean {
  const { isError, content } = (result ?? {}) as { isError?: unknown; content?: { text?: unknown }[] };
  return isError === true && String(content?.[0]?.text).startsWith('Input validation error: ');
}
