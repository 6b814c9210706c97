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

/** Calls the author's handler, and notes in `ctx` that it was entered, and whether it threw. */
export async function runHandler<T>(ctx: ServerContext | undefined, handler: () => T): Promise<Awaited<T>> {
  const run = (ctx as Carrying | undefined)?.[RUN];
  if (run) run.entered = true;
  try {
    return await handler();
  } catch (error) {
    if (run) run.threw = true;
    throw error;
  }
}
