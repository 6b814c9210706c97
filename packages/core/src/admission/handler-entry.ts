/** Records whether the author's handler ran while the SDK served a request. The SDK does not report it. */
import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server';
import { findCall } from '../wire/call.ts';
import type { AdmittedCall } from './call.ts';

/** The boundary's record of the request. Undefined without a protected server. */
const recordOf = (ctx: ServerContext) => findCall(ctx) as AdmittedCall | undefined;

/**
 * Calls the registered `callback` with `enter`. Records in the call that it was entered, and whether it threw.
 *
 * @throws the signal's reason, without calling the handler, if the client left while the SDK validated the arguments.
 * @throws ProtocolError, in the same way, if the author meanwhile replaced a callback that needs no lease.
 */
export async function runHandler<T>(
  ctx: ServerContext | undefined,
  callback: unknown,
  enter: () => T,
): Promise<Awaited<T>> {
  const call = ctx && recordOf(ctx);
  if (!call) return enter() as Awaited<T>;
  call.entry = 'rejected';
  ctx.mcpReq.signal.throwIfAborted();
  if (call.accepts?.(callback) === false) throw new ProtocolError(ProtocolErrorCode.InternalError, REPLACED);
  call.entry = 'entered';
  call.callback = callback;
  try {
    return await enter();
  } catch (error) {
    call.threw = true;
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
  const record = recordOf(ctx);
  const call = record?.callback === callback ? record : undefined;
  if (call) call.callback = undefined;
  const note = (outcome: unknown) => {
    if (!isNotEntered(outcome)) return;
    delete (outcome as { [NOT_ENTERED]?: boolean })[NOT_ENTERED];
    if (call) call.entry = 'rejected';
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
