/** Reads the state that a handler kept in an earlier round. */
import type { ServerContext, StandardSchemaV1 } from '@modelcontextprotocol/server';
import { InvalidDefinition } from '../errors.ts';
import { type Call, callOf } from '../wire/call.ts';

/**
 * Reads the state that this handler kept as JSON in the round before, and checks it with `schema`. Undefined in a
 * call's first round, and after a round without state.
 *
 * The boundary has opened the state, so no client changed it. But after a deploy it may be another version's. State
 * that does not fit the schema is rejected like state that does not open: the client gets `-32602`, even if the handler
 * catches the error. `onerror` gets the reason (`wrong_version`) and the first field that does not fit. So read state at
 * the top, above every effect.
 *
 * @param schema any Standard Schema that validates synchronously. Its output is the value, so a default or a transform
 * in it can bring older state up to date.
 * @throws ProtocolError (-32602) for state that does not fit. Let it pass.
 * @throws InvalidDefinition when the schema validates asynchronously.
 * @throws UnprotectedServer on a server without `protectRequestState`: a client could send any state.
 * @example
 * const resolution = readState(ctx, Resolution) ?? readResolution(ctx);
 */
export function readState<S extends StandardSchemaV1>(
  ctx: ServerContext,
  schema: S,
): StandardSchemaV1.InferOutput<S> | undefined {
  const call = callOf(ctx);
  const text = ctx.mcpReq.requestState<string>();
  return text === undefined ? undefined : requireFitting(call, 'the state', parse(text, call), schema);
}

/**
 * Checks a value that an earlier round kept, and returns the output of `schema`. Rejects the request if the value does
 * not fit; see {@link Call.rejectState}.
 *
 * @param what names the value in the operator's log.
 * @throws InvalidDefinition when the schema validates asynchronously.
 */
export function requireFitting<S extends StandardSchemaV1>(
  call: Pick<Call, 'rejectState'>,
  what: string,
  value: unknown,
  schema: S,
): StandardSchemaV1.InferOutput<S> {
  const outcome = schema['~standard'].validate(value);
  if (outcome instanceof Promise) {
    outcome.catch(() => {});
    throw new InvalidDefinition(
      `The schema of ${what} validates asynchronously; state is read synchronously.`,
    );
  }
  if (!outcome.issues) return outcome.value;
  const [issue] = outcome.issues;
  const path = issue?.path?.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
  // Leave out the issue's message: it may quote the value, and this text goes to a log.
  return call.rejectState(`${what} does not fit its schema${path ? ` at '${path}'` : ''}`);
}

function parse(text: string, call: Call): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return call.rejectState('the state is not JSON');
  }
}
