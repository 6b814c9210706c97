/** A listening server with three tools, and real clients of it. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import {
  inputRequired,
  protectedServer,
  requestStatePolicy,
  type ServerContext,
  textResult,
} from '@mrtr/core';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { type HttpHosting, type HttpOptions, serveHttp } from './http.ts';
import type { Served } from './served.ts';

/** A promise, and what settles it. */
export function deferred<T = void>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** An instance whose `wait` tool waits for the test. */
export interface Fixture extends Served {
  /** The context of the call to `wait`, when it has been entered. */
  readonly entered: Promise<ServerContext>;
  /** Lets `wait` answer. */
  release(): void;
  readonly errors: string[];
  readonly onerror: (error: Error) => void;
  /** How many times it was closed. */
  closed: number;
}

/** Tools: `ask` asks one question, `wait` answers when it is released, `who` says whose token it was called with. */
export function fixture(): Fixture {
  const policy = requestStatePolicy({ keys: ['k'.repeat(32)] });
  const entered = deferred<ServerContext>();
  const released = deferred();
  const errors: string[] = [];
  return {
    entered: entered.promise,
    release: () => released.resolve(),
    errors,
    onerror: (error) => errors.push(error.message),
    closed: 0,
    server() {
      const server = protectedServer({ name: 'hosted', version: '1.0.0' }, policy);
      server.registerTool('ask', {}, (ctx) =>
        ctx.mcpReq.inputResponses
          ? textResult('Asked.')
          : inputRequired({
              inputRequests: {
                q: inputRequired.elicit({ message: 'Well?', requestedSchema: z.object({}) }),
              },
              requestState: 'asked',
            }),
      );
      server.registerTool('wait', {}, async (ctx) => {
        entered.resolve(ctx);
        await released.promise;
        return textResult('Waited.');
      });
      server.registerTool('who', {}, ({ http }) => textResult(`${http?.authInfo?.extra?.sub}`));
      return server;
    },
    async close() {
      this.closed++;
    },
  };
}

/** Serves a fixture until the test ends. */
export async function hosting(options: HttpOptions = {}): Promise<Fixture & { http: HttpHosting; url: URL }> {
  const served = fixture();
  const http = await serveHttp(served, { drainMs: 100, onerror: served.onerror, ...options });
  onTestFinished(() => {
    served.release();
    return http.close().catch(() => {});
  });
  return Object.assign(served, { http, url: http.url });
}

const bearer = (token?: string) => ({
  requestInit: { headers: token ? { authorization: `Bearer ${token}` } : {} },
});

/** A v2 client, connected. Its user says yes. */
export async function modernClient(url: URL, token?: string): Promise<Client> {
  const client = new Client(
    { name: 'modern', version: '1.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
  await client.connect(new StreamableHTTPClientTransport(url, bearer(token)));
  onTestFinished(() => client.close());
  return client;
}

/** A v1 client, connected. Its user says yes; what it was asked is in `asked`. */
export async function oldClient(url: URL, token?: string): Promise<OldClient & { asked: string[] }> {
  const client = new OldClient({ name: 'old', version: '1.0.0' }, { capabilities: { elicitation: {} } });
  const asked: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message);
    return { action: 'accept' as const, content: {} };
  });
  await client.connect(new OldTransport(url, bearer(token)) as Transport);
  onTestFinished(() => client.close());
  return Object.assign(client, { asked });
}

const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

/** A request at 2026-07-28, as it is before it is sent. */
export function modernRequest(
  method: string,
  params: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): RequestInit {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  };
  return {
    method: 'POST',
    headers: {
      ...ACCEPT,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  };
}

/** A request at 2025-11-25. */
export const oldRequest = (
  method: string,
  params: Record<string, unknown> = {},
  session?: string,
  id = 1,
): RequestInit => ({
  method: 'POST',
  headers: { ...ACCEPT, ...(session !== undefined && { 'mcp-session-id': session }) },
  body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
});

/** A response or a notification at 2025-11-25. */
export const oldMessage = (message: Record<string, unknown>, session: string): RequestInit => ({
  ...oldRequest('', {}, session),
  body: JSON.stringify({ jsonrpc: '2.0', ...message }),
});

export const INITIALIZE = oldRequest('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: { elicitation: {} },
  clientInfo: { name: 'by hand', version: '1.0.0' },
});

/** What a response says: its status, and the one JSON-RPC message in it. */
export async function read(
  response: Response,
): Promise<{ status: number; error?: unknown; result?: Record<string, unknown> }> {
  const text = await response.text();
  const { jsonrpc: _, id: __, ...message } = JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? text);
  return { status: response.status, ...message };
}

/** Opens a connection. `send` writes bytes and resolves with all that came back when the server has closed it. */
export async function rawConnection({ hostname, port }: URL) {
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  const chunks: Buffer[] = [];
  const ended = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {});
  return {
    async send(bytes: string): Promise<string> {
      socket.write(bytes);
      await ended;
      return Buffer.concat(chunks).toString();
    },
  };
}
