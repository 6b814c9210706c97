/**
 * Answers of old clients that would end the call in the SDK's shim. So the boundary marks the questions that the shim sends.
 *
 * Some clients declare elicitation and have no handler for it. They answer a question with -32601, so they cannot be asked.
 * The shim gets a {@link NoHandler} as the answer, and enters the handler again. Others send a form that is not of the
 * protocol, for example `null` for an empty field: see {@link ANY_RESULT}.
 */
import {
  type InputRequest,
  type McpServer,
  ProtocolErrorCode,
  type ServerContext,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server';
import { type InputKind, inputKindOf } from './input-kind.ts';

/** Stands for the answer of a client without a handler. Never reaches the author's handler. */
export class NoHandler {
  readonly action = 'cancel';
  readonly kind: InputKind | undefined;
  constructor(request: InputRequest) {
    this.kind = inputKindOf(request);
  }
}

/** Whether the client's error says that it has no handler for a question. */
export const isNoHandlerError = (error: unknown) =>
  (error as { code?: unknown } | null)?.code === ProtocolErrorCode.MethodNotFound;

// A symbol, so that JSON leaves it out. The SDK may spread the parameters.
const BY_SHIM = Symbol('mrtr.by-shim');

/** Marks a question that the SDK's shim sends. Other kinds of input stay unmarked: the SDK checks their results. */
export const markForShim = <R extends InputRequest>(request: R): R =>
  request.method === 'elicitation/create'
    ? { ...request, params: { ...request.params, [BY_SHIM]: true } }
    : request;

type Send = (request: InputRequest, ...rest: unknown[]) => Promise<unknown>;

/** Takes each result as it came, for `read` of the question. The SDK's own schema would end the call with its own text. */
export const ANY_RESULT: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'mrtr', validate: (value) => ({ value }) },
};

/** Lets `server` answer each marked question with a {@link NoHandler}, where its client has no handler. */
export function catchNoHandler({ server }: McpServer) {
  const send = server.request.bind(server) as Send;
  const catching: Send = async (request, ...rest) => {
    if (!(request.params && BY_SHIM in request.params)) return send(request, ...rest);
    try {
      return await send(request, ANY_RESULT, ...rest);
    } catch (error) {
      if (!isNoHandlerError(error)) throw error;
      return new NoHandler(request);
    }
  };
  server.request = catching as typeof server.request;
}

// The shim keeps the signal of the client's request in all rounds of a call.
const unhandled = new WeakMap<AbortSignal, readonly unknown[]>();

/** Remembers the kinds that this request's client has no handler for, in any round, and returns `kinds` without them. */
export function dropUnhandled(kinds: readonly InputKind[], { mcpReq }: ServerContext): readonly InputKind[] {
  const { signal, inputResponses = {} } = mcpReq;
  const found = Object.values(inputResponses).filter((response: unknown) => response instanceof NoHandler);
  if (found.length > 0)
    unhandled.set(signal, [...(unhandled.get(signal) ?? []), ...found.map(({ kind }) => kind)]);
  const missing = unhandled.get(signal);
  return missing ? kinds.filter((kind) => !missing.includes(kind)) : kinds;
}
