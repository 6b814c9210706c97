/** The old client: the published v1 SDK's, at 2025-11-25. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { CompleteResult, CreateMessageRequest } from '@mrtr/core';
import { CLIENT_INFO, type ConnectedClient, PATIENCE } from './client.ts';
import type { LogicalCall } from './conversation.ts';
import type { HostApplication } from './host-application.ts';
import type { Endpoint } from './hosting.ts';
import type { Recorder } from './recorder.ts';

/** Connects it. */
export async function connectLegacy(
  application: HostApplication,
  endpoint: Endpoint,
  recorder: Recorder,
): Promise<ConnectedClient> {
  const { capabilities } = application;
  const client = new Client(CLIENT_INFO, { capabilities });
  // A handler's result has to be a new object: the two SDKs' types of it differ in nothing but their names.
  if (capabilities.elicitation) {
    client.setRequestHandler(ElicitRequestSchema, async (request) => ({
      ...(await application.elicit(request)),
    }));
  }
  if (capabilities.sampling) {
    client.setRequestHandler(CreateMessageRequestSchema, async ({ params }) => ({
      ...(await application.createMessage(params as CreateMessageRequest['params'])),
    }));
  }
  if (capabilities.roots)
    client.setRequestHandler(ListRootsRequestSchema, async () => ({ ...(await application.listRoots()) }));
  await client.connect(recorder.watch(await transportTo(endpoint)));
  const ignoreLoss = endWhenLost(client);
  return {
    call: async (call) => (await send(client, call)) as CompleteResult,
    close() {
      ignoreLoss();
      return client.close();
    },
  };
}

/**
 * This SDK does not end a call whose stream breaks, but lets it wait for its timeout. It does report the break; so
 * we ask whether the server is still there, and close the connection where it is not, which ends the call. The
 * returned function stops that.
 */
function endWhenLost(client: Client): () => void {
  let asking = false;
  client.onerror = () => {
    if (asking) return;
    asking = true;
    const answered = client.ping({ timeout: 5000 }).catch(() => client.close());
    void answered.finally(() => {
      asking = false;
    });
  };
  return () => {
    asking = true;
  };
}

function send(client: Client, call: LogicalCall): Promise<unknown> {
  switch (call.method) {
    case 'tools/call':
      return client.callTool({ ...call.params }, undefined, PATIENCE);
    case 'prompts/get':
      return client.getPrompt({ ...call.params }, PATIENCE);
    case 'resources/read':
      return client.readResource({ ...call.params }, PATIENCE);
  }
}

async function transportTo(endpoint: Endpoint): Promise<Transport> {
  if (endpoint.kind === 'http') {
    // The two SDKs' transports are the same at run time; their types differ in what is optional.
    return new StreamableHTTPClientTransport(
      endpoint.url,
      endpoint.fetch && { fetch: endpoint.fetch },
    ) as Transport;
  }
  if (endpoint.kind === 'stdio') {
    const { command, args, env } = endpoint;
    return new StdioClientTransport({ command, args: [...args], env, stderr: 'ignore' });
  }
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await endpoint.server.connect(theirs as unknown as Parameters<typeof endpoint.server.connect>[0]);
  return ours;
}
