/** A client of either era, connected in this process. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { ClientCapabilities, ElicitResult } from '@modelcontextprotocol/server';
import type { McpServer } from '@mrtr/core';
import { onTestFinished } from 'vitest';

/** Answers a question from its message. */
export type User = (message: string) => ElicitResult;

const CLIENT = { name: 'shapes-test-client', version: '0.0.0' };
const MCP_URL = new URL('http://shapes.invalid/mcp');

/** A client at 2026-07-28, over stateless HTTP. */
export async function modernClient(
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>,
  user: User | undefined,
  capabilities: ClientCapabilities,
): Promise<Client> {
  const client = new Client(CLIENT, { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities });
  if ('elicitation' in capabilities) {
    client.setRequestHandler('elicitation/create', ({ params }) => {
      if (!user) throw new Error(`Nobody answers "${params.message}".`);
      return user(params.message);
    });
  }
  await client.connect(new StreamableHTTPClientTransport(MCP_URL, { fetch }));
  onTestFinished(() => client.close());
  return client;
}

/** The published v1 client, on its own connection. Without a user it cannot be asked. */
export async function oldClient(
  server: McpServer,
  user: User | undefined,
  capabilities: ClientCapabilities = user ? { elicitation: {} } : {},
): Promise<OldClient> {
  const client = new OldClient(CLIENT, { capabilities });
  if (user) client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({ ...user(params.message) }));
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs as unknown as Parameters<typeof server.connect>[0]);
  await client.connect(ours);
  onTestFinished(() => client.close());
  return client;
}
