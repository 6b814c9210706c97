/** A listening server with five tools, and real clients of it. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { inputRequired } from '@modelcontextprotocol/server';
import {
  type McpServer,
  protectedServer,
  type RequestStateOptions,
  requestStatePolicy,
  type ServerContext,
  textResult,
} from '@mrtr/core';
import { legacyClient, modernClient as modern } from '@mrtr/harness';
import { Deferred, readPosted, requestInit, within } from '@mrtr/harness/internal';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { createMcpMount, type HttpOptions, type MountOptions, serveHttp } from './http.ts';

export const FLOODED = textResult('Flooded.');

/**
 * Tools: `ask` asks one question. `wait` answers after `release` and ignores its signal. `stream` does the same after a
 * progress notification. `flood` sends 1000 messages without a pause. `big` answers with 8 MiB. `who` names its caller.
 */
export function fixture(options: RequestStateOptions = {}) {
  const errors: string[] = [];
  const onerror = (error: Error) => void errors.push(error.message);
  const policy = requestStatePolicy({ keys: ['k'.repeat(32)], singleUse: false, onerror, ...options });
  const entered = new Deferred<ServerContext>();
  const released = new Deferred();
  let next = new Deferred<ServerContext>();
  return {
    /** Resolves with the context of the first call to `wait`. */
    entered: entered.promise,
    /** Lets `wait` answer. */
    release: () => released.open(),
    errors,
    onerror,
    /** How often it was closed. */
    closed: 0,
    /** How many calls of `wait` and `stream` have begun. */
    waiting: 0,
    /** Resolves with the context of the next one. */
    nextEntry: () => next.promise,
    server(): McpServer {
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
      const wait = async (ctx: ServerContext) => {
        this.waiting++;
        next.open(ctx);
        next = new Deferred();
        entered.open(ctx);
        await released.promise;
        return textResult('Waited.');
      };
      server.registerTool('wait', {}, wait);
      server.registerTool('stream', {}, async (ctx) => {
        const params = { progressToken: 1, progress: 1 };
        await ctx.mcpReq.notify({ method: 'notifications/progress', params });
        return wait(ctx);
      });
      server.registerTool('flood', {}, async (ctx) => {
        const { progressToken = 0 } = ctx.mcpReq._meta ?? {};
        for (let progress = 1; progress <= 1000; progress++) {
          const params = { progressToken, progress, message: 'x'.repeat(3000) };
          await ctx.mcpReq.notify({ method: 'notifications/progress', params });
        }
        return FLOODED;
      });
      server.registerTool('big', {}, () => textResult('x'.repeat(8_388_608)));
      server.registerTool('who', {}, ({ http }) => textResult(`${http?.authInfo?.extra?.sub}`));
      return server;
    },
    async close(): Promise<void> {
      this.closed++;
    },
  };
}

/** The options of a hosting, and of the policy of its servers. */
export type HostedOptions = HttpOptions & { readonly policy?: RequestStateOptions };

/** Serves a fixture until the test ends. */
export async function hosting({ policy, ...options }: HostedOptions = {}) {
  const served = fixture(policy);
  const http = await serveHttp(served, { drainSeconds: 0.1, onerror: served.onerror, ...options });
  onTestFinished(() => {
    served.release();
    return http.close().catch(() => {});
  });
  return Object.assign(served, { http, url: http.url });
}

/** A mount without a socket, and requests to it. */
export function mounting(options: MountOptions = {}) {
  const served = fixture();
  const mcp = createMcpMount(served, { onerror: served.onerror, drainSeconds: 0.05, ...options });
  onTestFinished(() => {
    served.release();
    return mcp.close().catch(() => {});
  });
  const send = (path: string, init: RequestInit = {}, options = {}): Promise<Response> =>
    mcp.fetch(new Request(new URL(path, 'http://localhost'), init), options);
  const sendPage = (path: string, init: RequestInit = {}): Promise<Response> =>
    mcp.fetchPages(new Request(new URL(path, 'http://localhost'), init));
  return { served, mcp, send, sendPage };
}

const bearer = (token?: string) => ({
  requestInit: { headers: token ? { authorization: `Bearer ${token}` } : {} },
});

/** A connected v2 client. Its user accepts. */
export async function modernClient(url: URL, token?: string): Promise<Client> {
  const user = () => ({ action: 'accept', content: {} }) as const;
  const client = await modern(new StreamableHTTPClientTransport(url, bearer(token)), { user });
  onTestFinished(() => client.close());
  return client;
}

/** A connected v1 client. Its user accepts; `asked` collects the questions. */
export async function oldClient(url: URL, token?: string): Promise<OldClient & { asked: string[] }> {
  const asked: string[] = [];
  const client = await legacyClient(new OldTransport(url, bearer(token)) as Transport, {
    user: ({ message }) => {
      asked.push(message);
      return { action: 'accept', content: {} };
    },
  });
  onTestFinished(() => client.close());
  return Object.assign(client, { asked });
}

/** A request at 2025-11-25. */
export const oldRequest = (
  method: string,
  params: Record<string, unknown> = {},
  session?: string,
  id = 1,
): RequestInit =>
  requestInit(method, params, {
    legacy: true,
    id,
    ...(session !== undefined && { headers: { 'mcp-session-id': session } }),
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

export const withHeaders = (init: RequestInit, headers: object): RequestInit => ({
  ...init,
  headers: { ...(init.headers as Record<string, string>), ...headers },
});

/** Begins a session of an old client. Resolves with its id. */
export async function beginSession(url: URL, headers: object = {}): Promise<string> {
  const begun = await fetch(url, withHeaders(INITIALIZE, headers));
  await begun.text();
  return begun.headers.get('mcp-session-id') ?? '';
}

/** The status of a response, and its result or error. */
export async function read(response: Response) {
  const { text: _, ...message } = await readPosted(response);
  return message;
}

/** A connection that ends with the test. */
export function openSocket({ hostname, port }: Pick<URL, 'hostname' | 'port'>): Socket {
  const socket = connect(Number(port), hostname).on('error', () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** A request as the text of HTTP/1.1. */
export function httpText({ host, pathname }: URL, { headers, body }: RequestInit): string {
  const all = { host, ...headers, 'content-length': Buffer.byteLength(`${body}`) };
  const lines = Object.entries(all).map((header) => header.join(': '));
  return [`POST ${pathname} HTTP/1.1`, ...lines, '', body].join('\r\n');
}

/** A subscription over a real connection. Its client reads the beginning, and then stops reading. */
export async function subscribe(url: URL): Promise<Socket> {
  const client = openSocket(url);
  const params = { notifications: { toolsListChanged: true } };
  client.write(httpText(url, requestInit('subscriptions/listen', params)));
  await within(5000, once(client, 'data'), () => 'The subscription was not answered.');
  return client.pause();
}

/**
 * Opens a connection. `send` writes bytes, and resolves with the whole response when the server has closed it. `use`
 * writes bytes, and resolves with the first chunk of the response.
 */
export async function rawConnection(url: URL) {
  const socket = openSocket(url);
  const chunks: Buffer[] = [];
  const ended = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  socket.on('data', (chunk) => chunks.push(chunk));
  return {
    async use(bytes: string): Promise<string> {
      const first = once(socket, 'data');
      socket.write(bytes);
      return String((await first)[0]);
    },
    async send(bytes: string): Promise<string> {
      socket.write(bytes);
      await ended;
      return Buffer.concat(chunks).toString();
    },
  };
}
