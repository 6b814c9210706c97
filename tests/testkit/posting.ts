/** Requests past any client: for what a well-kept one would not send, and for rounds that a test makes by hand. */
import { type AuthInfo, createMcpHandler, type McpServer } from '@modelcontextprotocol/server';

/** What came back: the HTTP status, the text as it was, and the JSON-RPC answer in it. */
export interface Posted {
  readonly status: number;
  readonly text: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Who posts, and how. */
export interface PostOptions {
  readonly principal?: string | undefined;
  /** As a client at 2025-11-25 would: no envelope. */
  readonly old?: boolean;
}

/** Posts one request. `params` may be JSON text, for what `JSON.stringify` does not write. */
export type Post = (
  method: string,
  params: Readonly<Record<string, unknown>> | string,
  options?: PostOptions,
) => Promise<Posted>;

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};

/** An authenticated user. */
const user = (sub: string): AuthInfo => ({
  token: `token-of-${sub}`,
  clientId: 'app',
  scopes: [],
  extra: { sub },
});

/** The frozen answer to any state that is not accepted, for whatever reason. */
export const REJECTED = {
  code: -32602,
  message: 'Invalid or expired requestState',
  data: { reason: 'invalid_request_state' },
};

/** The stateless HTTP face of a server, without a socket. */
export function posting(server: () => McpServer): { readonly post: Post; close(): Promise<void> } {
  const handler = createMcpHandler(server);
  const post: Post = async (method, params, { principal, old = false } = {}) => {
    const text = typeof params === 'string' ? params : JSON.stringify(params);
    const { name, uri } = JSON.parse(text) as { name?: unknown; uri?: unknown };
    const enveloped = text === '{}' ? `{"_meta":${META}}` : `${text.slice(0, -1)},"_meta":${META}}`;
    const request = new Request('http://mrtr.invalid/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(!old && {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          'mcp-name': String(uri ?? name ?? ''),
        }),
      },
      body: `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)},"params":${old ? text : enveloped}}`,
    });
    const response = await handler.fetch(
      request,
      principal === undefined ? undefined : { authInfo: user(principal) },
    );
    const body = await response.text();
    const { result, error } = JSON.parse(/^data: (.+)$/m.exec(body)?.[1] ?? body);
    return { status: response.status, text: body, ...(result && { result }), ...(error && { error }) };
  };
  return { post, close: () => handler.close() };
}

const META = JSON.stringify(ENVELOPE);

/** The texts of a tool's result. */
export const textOf = ({ result }: Posted): string | undefined =>
  (result?.content as { text: string }[] | undefined)?.map(({ text }) => text).join('\n');
