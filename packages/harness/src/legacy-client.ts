/** The old client: the published v1 SDK's, at 2025-11-25. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { CallToolResult } from '@mrtr/core';
import { answered, CLIENT_INFO, type ConnectedClient, PATIENCE, shown } from './client.ts';
import type { ConversationRequest } from './conversation.ts';
import type { Endpoint } from './hosting.ts';
import type { Recorder } from './recorder.ts';

/** Connects it. */
export async function connectLegacy(
  { user }: ConversationRequest,
  endpoint: Endpoint,
  recorder: Recorder,
): Promise<ConnectedClient> {
  const client = new Client(CLIENT_INFO, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async (request) => ({
    ...answered(await user(shown(request))),
  }));
  await client.connect(recorder.watch(await transportTo(endpoint)));
  return {
    callTool: async (call) => (await client.callTool({ ...call }, undefined, PATIENCE)) as CallToolResult,
    close: () => client.close(),
  };
}

async function transportTo(endpoint: Endpoint): Promise<Transport> {
  if (endpoint.kind === 'http') {
    // The two SDKs' transports are the same at run time; their types differ in what is optional.
    return new StreamableHTTPClientTransport(
      endpoint.url,
      endpoint.fetch && { fetch: endpoint.fetch },
    ) as Transport;
  }
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await endpoint.server.connect(theirs as unknown as Parameters<typeof endpoint.server.connect>[0]);
  return ours;
}
