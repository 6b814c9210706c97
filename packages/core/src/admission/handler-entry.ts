/** Records whether the author's code was entered while the SDK served a request. The SDK does not report it. */
import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server';
import { findCall } from '../wire/call.ts';
import type { AdmittedCall } from './admitted-call.ts';
import { notesOf, withNotes } from './shape-notes.ts';

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
  // The SDK's own: reading the handler's would make it, in each request.
  call.facts.ctx.mcpReq.signal.throwIfAborted();
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
 * Runs a shape's `callback` with `serve`. If its outcome has the note that no code of the author ran, records that. Only a
 * callback that is registered itself can know it: code of the author ran before a shape that a wrapper or another shape's
 * handler calls. So the note goes no further.
 */
export async function runShape<T>(
  ctx: ServerContext,
  callback: unknown,
  serve: () => T | Promise<T>,
  check = (result: T) => result,
): Promise<T> {
  const record = recordOf(ctx);
  const call = record?.callback === callback ? record : undefined;
  if (call) call.callback = undefined;
  const takeNote = (outcome: unknown) => {
    if (!notesOf(outcome).notEntered) return;
    withNotes(outcome, { notEntered: false });
    if (call) call.entry = 'rejected';
  };
  try {
    const result = check(await serve());
    takeNote(result);
    return result;
  } catch (error) {
    takeNote(error);
    throw error;
  }
}

const REPLACED = 'The server was changed while this request came in. Nothing of it has run. Send it again.';

/**
 * Whether `McpServer` rejected the request with this error, before it called a handler. False in doubt: a lease that is
 * given back wrongly lets an effect happen twice.
 */
export const isSdkRejection = (error: unknown) =>
  error instanceof ProtocolError &&
  (error.code === ProtocolErrorCode.InvalidParams || error.code === ProtocolErrorCode.ResourceNotFound);

export const isErrorResult = (result: unknown) =>
  (result as { readonly isError?: unknown } | null | undefined)?.isError === true;
