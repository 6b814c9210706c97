/**
 * Old clients that declare elicitation and have no handler for it. They answer a question with -32601, so they cannot be
 * asked. The SDK's shim would end the call with that error. So the boundary marks the questions that the shim sends, and
 * gives it a {@link NoHandler} as the answer: the shim then enters the handler again.
 */
import {
  type InputRequest,
  type McpServer,
  ProtocolErrorCode,
  type ServerContext,
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
export const isNoHandlerError = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === ProtocolErrorCode.MethodNotFound;

// A symbol, so that JSON leaves it out. The SDK may spread the parameters.
const BY_SHIM = Symbol('mrtr.by-shim');

/** Marks a question that the SDK's shim sends. Other kinds of input stay unmarked: the SDK checks their results. */
export const markForShim = <R extends InputRequest>(request: R): R =>
  request.method === 'elicitation/create'
    ? { ...request, params: { ...request.params, [BY_SHIM]: true } }
    : request;

type Send = (request: InputRequest, ...rest: unknown[]) => Promise<unknown>;

/** Lets `server` answer each marked question with a {@link NoHandler}, where its client has no handler. */
export function catchNoHandler({ server }: McpServer): void {
  const send = server.request.bind(server) as Send;
  const catching: Send = async (request, ...rest) => {
    try {
      return await send(request, ...rest);
    } catch (error) {
      if (!isNoHandlerError(error) || !(request.params && BY_SHIM in request.params)) throw error;
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
