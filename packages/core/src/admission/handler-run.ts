/** Records whether the author's handler ran while the SDK served a request. The SDK does not report it. */
import type { ServerContext } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/**
 * One run of a handler. `McpServer` rejects some requests before it calls the handler (an unknown or disabled tool,
 * arguments that do not fit), and makes a result of what a tool throws. Both look like results from outside.
 */
export interface HandlerRun {
  /**
   * Whether the author's code was entered. `unseen`: no watched call was made. A target without a watch, such as one whose
   * `executor` the author assigned, counts as entered.
   */
  entry: 'unseen' | 'entered' | 'rejected';
  threw: boolean;
  /** The registered callback, until its shape has begun. */
  callback?: unknown;
  /** Set if the token has no lease: whether this callback may be entered without one. */
  accepts?: ((callback: unknown) => boolean) | undefined;
}

const RUN = Symbol.for('mrtr.handler-run');

type ContextWithRun = ServerContext & { [RUN]?: HandlerRun };

/** A copy of the context that carries `run`, under a symbol key: the SDK spreads contexts, and a spread keeps it. */
export const withHandlerRun = (ctx: ServerContext, run: HandlerRun): ServerContext =>
  Object.assign(ctx, { [RUN]: run });

/**
 * Calls the registered `callback` with `enter`. Records in `ctx` that it was entered, and whether it threw.
 *
 * @throws the signal's reason, without calling the handler, if the client left while the SDK validated the arguments.
 * @throws ProtocolError, in the same way, if the author meanwhile replaced a callback that needs no lease.
 */
export async function runHandler<T>(
  ctx: ServerContext | undefined,
  callback: unknown,
  enter: () => T,
): Promise<Awaited<T>> {
  const run = (ctx as ContextWithRun | undefined)?.[RUN];
  if (!run) return enter() as Awaited<T>;
  run.entry = 'rejected';
  ctx?.mcpReq.signal.throwIfAborted();
  if (run.accepts?.(callback) === false) throw new ProtocolError(ProtocolErrorCode.InternalError, REPLACED);
  run.entry = 'entered';
  run.callback = callback;
  try {
    return await enter();
  } catch (error) {
    run.threw = true;
    throw error;
  }
}

/**
 * Runs a shape's `callback` with `serve`. If {@link asNotEntered} marked the outcome, records that no code of the author
 * ran. Only a callback that is registered itself can know that: code of the author ran before a shape that a wrapper or
 * another shape's handler calls. So the mark goes no further.
 */
export async function runShape<T>(
  ctx: ServerContext,
  callback: unknown,
  serve: () => Promise<T>,
): Promise<T> {
  const run = (ctx as ContextWithRun)[RUN];
  const isRegistered = run?.callback === callback;
  if (run && isRegistered) run.callback = undefined;
  const note = (outcome: unknown) => {
    if (!isNotEntered(outcome)) return;
    delete (outcome as { [NOT_ENTERED]?: boolean })[NOT_ENTERED];
    if (run && isRegistered) run.entry = 'rejected';
  };
  try {
    const result = await serve();
    note(result);
    return result;
  } catch (error) {
    note(error);
    throw error;
  }
}

const REPLACED = 'The server was changed while this request came in. Nothing of it has run. Send it again.';

const NOT_ENTERED = Symbol.for('mrtr.not-entered');

/**
 * Marks a shape's result or error: no code of the author ran in this round. If the shape's own callback is registered,
 * the token's lease is given back, so a retry on the right instance or version is served.
 */
export function asNotEntered<T>(outcome: T): T {
  if (Object.isExtensible(outcome))
    Object.defineProperty(outcome, NOT_ENTERED, { value: true, configurable: true });
  return outcome;
}

/** Whether {@link asNotEntered} marked `outcome`. */
export const isNotEntered = (outcome: unknown): boolean =>
  (outcome as { [NOT_ENTERED]?: boolean } | null | undefined)?.[NOT_ENTERED] === true;

/**
 * Whether `McpServer` rejected the request with this error, before it called a handler. False in doubt: a lease that is
 * given back wrongly lets an effect happen twice.
 */
export const isSdkRejection = (error: unknown): boolean =>
  error instanceof ProtocolError &&
  (error.code === ProtocolErrorCode.InvalidParams || error.code === ProtocolErrorCode.ResourceNotFound);

/** Whether `McpServer` made this tool result because the arguments do not fit. */
export function isInvalidInputResult(result: unknown): boolean {
  const { isError, content } = (result ?? {}) as { isError?: unknown; content?: { text?: unknown }[] };
  return isError === true && String(content?.[0]?.text).startsWith('Input validation error: ');
}
