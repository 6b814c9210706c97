/** JSON-RPC requests without a client: malformed ones, and rounds made by hand. */
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { JsonObject } from '../transcript/wording.ts';
import { NO_SOCKET } from './endpoint.ts';
import { CONTENT_TYPES, envelopeOf, mirror } from './envelope.ts';

/** A response: the HTTP status, the body as text, and its JSON-RPC result or error. */
export interface Posted {
  readonly status: number;
  readonly text: string;
  readonly result?: JsonObject;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface RequestOptions {
  /** Sends it like a client at 2025-11-25, without an envelope and without a handshake. */
  readonly legacy?: boolean;
  /** The capabilities in the envelope. Default: forms. */
  readonly capabilities?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly id?: number | string;
}

export interface PostOptions extends RequestOptions {
  /** The authenticated caller, for servers in this process only. Others read the `authorization` header. */
  readonly authInfo?: AuthInfo | undefined;
}

/** Posts one request. `params` may be JSON text, for JSON that `JSON.stringify` cannot write. */
export type Post = (method: string, params: JsonObject | string, options?: PostOptions) => Promise<Posted>;

/** A server without a socket, as `createMcpHandler` returns it. */
export interface HttpFace {
  fetch(request: Request, options?: { readonly authInfo: AuthInfo }): Promise<Response>;
}

/**
 * Posts requests to an address, or to a server in this process.
 *
 * @example
 * const post = poster(hosting.url);
 * const { result } = await post('tools/call', { name: 'deploy', arguments: {}, requestState: 'forged' });
 */
export const poster =
  (server: URL | HttpFace): Post =>
  async (method, params, { authInfo, ...options } = {}) => {
    const init = requestInit(method, params, options);
    if (server instanceof URL) return readPosted(await fetch(server, init));
    return readPosted(await server.fetch(new Request(NO_SOCKET, init), authInfo && { authInfo }));
  };

/** Makes a request without sending it. */
export function requestInit(
  method: string,
  params: JsonObject | string = {},
  { legacy = false, capabilities = { elicitation: {} }, headers, id = 1 }: RequestOptions = {},
): RequestInit & { readonly headers: Record<string, string>; readonly body: string } {
  const text = typeof params === 'string' ? params : JSON.stringify(params);
  const { _meta, ...rest } = JSON.parse(text) as JsonObject;
  const envelope = { ...envelopeOf(capabilities), ...(_meta as object | undefined) };
  const enveloped = `${text.slice(0, -1)}${text === '{}' ? '' : ','}"_meta":${JSON.stringify(envelope)}}`;
  return {
    method: 'POST',
    headers: { ...CONTENT_TYPES, ...(!legacy && mirror(method, rest)), ...headers },
    body:
      `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${JSON.stringify(method)},` +
      `"params":${legacy ? text : enveloped}}`,
  };
}

/** Reads the one JSON-RPC message in a response, which is JSON or an event stream. */
export async function readPosted(response: Response): Promise<Posted> {
  const text = await response.text();
  const { result, error } = JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? text);
  return { status: response.status, text, ...(result && { result }), ...(error && { error }) };
}
