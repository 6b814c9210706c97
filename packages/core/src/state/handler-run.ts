/** What happened to the author's handler while the SDK served a request. The SDK does not say. */
import type { ServerContext } from '@modelcontextprotocol/server';

/**
 * One run of a handler. `McpServer` refuses some requests before it calls the handler (an unknown or disabled tool,
 * arguments that do not fit), and makes a result of what a tool throws. Both look like results from outside.
 */
export interface HandlerRun {
  /** Whether the author's handler was called. */
  entered: boolean;
  /** Whether it threw. */
  threw: boolean;
}

const RUN = Symbol.for('mrtr.handler-run');

type Carrying = ServerContext & { [RUN]?: HandlerRun };

/** The same context, which carries `run`. A symbol key, because the SDK spreads contexts and a spread keeps it. */
export const withHandlerRun = (ctx: ServerContext, run: HandlerRun): ServerContext =>
  Object.assign(ctx, { [RUN]: run });

/**
 * Calls the author's handler, and notes in `ctx` that it was entered, and whether it threw.
 *
 * @throws the signal's reason, without calling it, where the client has gone meanwhile: a schema may take its time.
 */
export async function runHandler<T>(ctx: ServerContext | undefined, handler: () => T): Promise<Awaited<T>> {
  const run = (ctx as Carrying | undefined)?.[RUN];
  if (!run) return handler() as Awaited<T>;
  ctx?.mcpReq.signal.throwIfAborted();
  run.entered = true;
  try {
    const result = await handler();
    run.entered = !isNotEntered(result);
    return result;
  } catch (error) {
    run.threw = true;
    run.entered = !isNotEntered(error);
    throw error;
  }
}

const NOT_ENTERED = Symbol.for('mrtr.not-entered');

/**
 * Marks a shape's result or error: no code of the author ran in this round. The claim of its token is given back, and a
 * retry that reaches the right instance, or the right version, is served.
 */
export function asNotEntered<T>(outcome: T): T {
  if (typeof outcome === 'object' && outcome !== null && Object.isExtensible(outcome))
    Object.defineProperty(outcome, NOT_ENTERED, { value: true });
  return outcome;
}

/** Whether {@link asNotEntered} marked it. */
export const isNotEntered = (outcome: unknown): boolean =>
  typeof outcome === 'object' && outcome !== null && Object.hasOwn(outcome, NOT_ENTERED);
