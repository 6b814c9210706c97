/** A protected server, hosted in this process, and its clients. */
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as V1InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { type AuthInfo, createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { withoutCall } from '../support/log-line.ts';
import { type ChannelName, observe } from '../wire/diagnostics.ts';
import { type RequestStateOptions, requestStatePolicy } from './policy.ts';
import { protectedServer } from './server.ts';

/** What came back for one JSON-RPC request: `result` or `error`, without the envelope. */
export interface Reply {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface PostOptions {
  readonly authInfo?: AuthInfo;
  /** What the request's envelope declares. */
  readonly capabilities?: unknown;
  /** An old client's request: no envelope, no handshake, no session. */
  readonly legacy?: boolean;
  /** Fires when the client hangs up. */
  readonly signal?: AbortSignal;
}

export interface Hosted {
  /** The errors that the server's `onerror` received, as text. */
  readonly errors: readonly string[];
  /** A new server instance, for one connection. */
  readonly server: () => McpServer;
  /** The stateless HTTP face. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Sends one request without a client, so that it can hold anything. */
  readonly post: (method: string, params: Record<string, unknown>, options?: PostOptions) => Promise<Reply>;
  /** The same, for the whole HTTP response. */
  readonly send: (
    method: string,
    params: Record<string, unknown>,
    options?: PostOptions,
  ) => Promise<Response>;
}

export const URL_IN_PROCESS = 'http://mrtr.invalid/mcp';

/**
 * Hosts servers that `register` fills, a new one for each request. They have a key, and without a ledger their state
 * is not single-use, unless `options` say otherwise.
 */
export function hostTools(
  register: (server: McpServer) => void,
  options: RequestStateOptions = {},
  name = 'test-server',
): Hosted {
  const singleUse = options.ledger ? undefined : false;
  const policy = requestStatePolicy({ keys: ['k'.repeat(32)], singleUse, ...options });
  return hostServers((errors) => {
    const server = protectedServer({ name, version: '1.0.0' }, policy);
    server.server.onerror = (error) => errors.push(withoutCall(String(error)));
    register(server);
    return server;
  });
}

/** The same, for servers that `protectedServer` does not build. */
export function hostServers(build: (errors: string[]) => McpServer): Hosted {
  const errors: string[] = [];
  const server = () => build(errors);
  const handler = createMcpHandler(server);
  onTestFinished(() => handler.close());
  const send: Hosted['send'] = (method, params, options) => {
    const { authInfo } = options ?? {};
    return handler.fetch(requestOf(method, params, options), authInfo && { authInfo });
  };
  return {
    errors,
    server,
    fetch: (url, init) => handler.fetch(new Request(url, init)),
    send,
    post: async (...request) => {
      const text = await (await send(...request)).text();
      const { jsonrpc: _, id: __, ...reply } = JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? text);
      return reply;
    },
  };
}

function requestOf(method: string, params: Record<string, unknown>, options: PostOptions = {}): Request {
  const { capabilities = { elicitation: {} }, legacy = false, signal } = options;
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...(params._meta as object),
  };
  const name = method === 'resources/read' ? params.uri : params.name;
  return new Request(URL_IN_PROCESS, {
    method: 'POST',
    ...(signal && { signal }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(!legacy && {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        'mcp-name': String(name ?? ''),
      }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: legacy ? params : { ...params, _meta } }),
  });
}

/** A published v1 client, with its own server. `answer` is its user; without one it declares no elicitation. */
export async function oldClient(
  { server }: Pick<Hosted, 'server'>,
  answer?: (params: unknown) => Record<string, unknown>,
): Promise<V1Client> {
  const client = new V1Client(
    { name: 'old-client', version: '1.0.0' },
    { capabilities: answer ? { elicitation: {} } : {} },
  );
  if (answer) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params) as { action: 'cancel' });
  }
  const [ours, theirs] = V1InMemoryTransport.createLinkedPair();
  const connected = server();
  // The two SDKs' transports are the same at run time; their types differ in what is optional.
  await connected.connect(theirs as unknown as Parameters<McpServer['connect']>[0]);
  await client.connect(ours);
  onTestFinished(() => client.close());
  return client;
}

/** The events that are published on `name` until the test ends. */
export function eventsOf<Name extends ChannelName>(
  name: Name,
): Parameters<Parameters<typeof observe<Name>>[1]>[0][] {
  const events: Parameters<Parameters<typeof observe<Name>>[1]>[0][] = [];
  onTestFinished(observe(name, (event) => events.push(event)));
  return events;
}
