/** The reply to one request: every message with its text, and the response among them. */
import { isObject, isTooMuch, type JsonObject, objectAt, parse, TOO_MUCH } from './json.ts';

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface RawMessage {
  readonly text: string;
  readonly value: unknown;
}

export interface ServerReply {
  readonly id?: number;
  readonly status?: number;
  readonly contentType?: string;
  /** The `Retry-After` of the server, in milliseconds. */
  readonly retryAfterMs?: number;
  readonly messages: readonly RawMessage[];
  /** The JSON-RPC response among the messages. */
  readonly response?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: RpcError;
  /** The reason for a missing result and error, such as `no answer in 30 s`. */
  readonly failure?: string;
  readonly late?: true;
  readonly cut?: true;
  readonly ms: number;
}

export interface Carried extends Pick<ServerReply, 'status' | 'contentType' | 'retryAfterMs' | 'late'> {
  readonly id: number;
  readonly started: number;
}

/** Reads the reply from its texts. `otherwise`: the failure if there is no response among them. */
export function replyFrom(texts: readonly string[], carried: Carried, otherwise: string): ServerReply {
  const { id, started, late, ...http } = carried;
  const messages = texts.map((text) => ({ text, value: parse(text) }));
  // The error of an HTTP server in front of MCP may be JSON of its own, such as fastify's for a body that is too long.
  const isHttpError = (http.status ?? 0) >= 400;
  const responses = messages.filter(({ value }) => isResponse(value) && !(isHttpError && isForeign(value)));
  const own = responses.find(({ value }) => (value as JsonObject).id === id) ?? responses.at(-1);
  const base = { ...http, id, messages, ms: performance.now() - started };
  if (!own) {
    const failure = texts.some(isTooMuch) ? TOO_MUCH : otherwise;
    return { ...base, failure, ...(late && { late }) };
  }
  const response = own.value as JsonObject;
  const answered = { ...base, response };
  const { result, error } = response;
  if (isObject(result)) return { ...answered, result };
  if (isObject(error)) return { ...answered, error: error as unknown as RpcError };
  return { ...answered, failure: 'the response has neither a result object nor an error object' };
}

export const isResponse = (value: unknown): value is JsonObject =>
  isObject(value) && value.method === undefined && ('result' in value || 'error' in value);

/** Whether a response is not JSON-RPC: it does not name the protocol, and its error has no code. */
const isForeign = ({ jsonrpc, error }: JsonObject) =>
  jsonrpc === undefined && !Number.isInteger(objectAt({ error }, 'error').code);

/** Whether a message is a request of the server: it has a method and an id. */
export const isServerRequest = (value: unknown): value is JsonObject =>
  isObject(value) && typeof value.method === 'string' && value.id !== undefined;
