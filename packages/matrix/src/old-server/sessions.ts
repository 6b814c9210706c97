/** The old hosting: a session for each client, whose streams the server holds open to ask over them. */
import { randomUUID } from 'node:crypto';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';

export interface Sessions {
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

export function inSessions(server: () => McpServer): Sessions {
  const transports = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return {
    async fetch(request) {
      const known = transports.get(request.headers.get('mcp-session-id') ?? '');
      if (known) return known.handleRequest(request);
      const body: unknown = await request.json().catch(() => undefined);
      if (!isInitializeRequest(body)) return noSession();
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void transports.set(id, transport),
        onsessionclosed: (id) => void transports.delete(id),
      });
      // The SDK's own transport does not fit its own interface under `exactOptionalPropertyTypes`.
      await server().connect(transport as Transport);
      return transport.handleRequest(request, { parsedBody: body });
    },
    async close() {
      await Promise.all([...transports.values()].map((transport) => transport.close()));
      transports.clear();
    },
  };
}

/** The answer of v1's examples, and so of many real servers. */
const noSession = (): Response =>
  Response.json(
    {
      jsonrpc: '2.0',
      error: { code: -32_000, message: 'Bad Request: No valid session ID provided' },
      id: null,
    },
    { status: 400 },
  );
