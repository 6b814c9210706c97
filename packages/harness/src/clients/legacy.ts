/** The old client: the published v1 SDK's, at 2025-11-25. Loaded only when needed. */
import type { CreateMessageRequest } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Protocol, type RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { McpServer } from '@modelcontextprotocol/server';
import { currentCaller, httpOptions } from '../hosts/caller.ts';
import type { Endpoint } from '../hosts/endpoint.ts';
import type { CallResult, LogicalCall } from '../transcript/call.ts';
import { CLIENT_INFO, namesOfTools, requestOptions } from './client-application.ts';
import type { Connected } from './manual-user.ts';
import type { RecordedApplication } from './recorded-application.ts';
import { endOf } from './round-result.ts';
import { type Explain, rethrow, transportToProgram } from './server-program.ts';
import { questionIn } from './user.ts';

export async function connectLegacy(transport: Transport, application: RecordedApplication): Promise<Client> {
  const { capabilities, has } = application;
  const client = new Client(CLIENT_INFO, { capabilities });
  // Copy a handler's result: the two SDKs' types of it differ only in their names. The method of `Client` would reject
  // answers with null, which some clients send.
  if (capabilities.elicitation && has.user)
    Protocol.prototype.setRequestHandler.call(client, ElicitRequestSchema, async ({ params }) => ({
      ...(await application.elicit(questionIn(params))),
    }));
  if (capabilities.sampling && has.model)
    client.setRequestHandler(CreateMessageRequestSchema, async ({ params }) => ({
      ...(await application.createMessage(params as CreateMessageRequest['params'])),
    }));
  if (capabilities.roots && has.roots)
    client.setRequestHandler(ListRootsRequestSchema, async () => ({ ...(await application.listRoots()) }));
  await client.connect(transport);
  return client;
}

/** Connects a client whose conversation is recorded. */
export async function connectTo(endpoint: Endpoint, application: RecordedApplication): Promise<Connected> {
  const [transport, explain] = await transportTo(endpoint);
  const client = await connectLegacy(application.recorder.watch(transport), application).catch(explain);
  /** Makes the call. Ends with an error if the connection is lost. */
  function call(call: LogicalCall, signal: AbortSignal | undefined) {
    const ignoreLoss = endWhenLost(client);
    const result = send(client, call, requestOptions(signal)) as Promise<CallResult>;
    return endOf(result.catch(explain)).finally(ignoreLoss);
  }
  return {
    era: 'legacy',
    call,
    firstRound: (request, manualUser, signal) =>
      manualUser.round(call(request, signal), (end) => application.endWith(end)),
    toolNames: () => namesOfTools(client),
    close: () => client.close(),
  };
}

async function transportTo(endpoint: Endpoint): Promise<readonly [Transport, Explain]> {
  if (endpoint.kind === 'http') {
    // The two SDKs' transports are equal at run time. Their types differ in optional properties.
    return [new StreamableHTTPClientTransport(endpoint.url, httpOptions(endpoint)) as Transport, rethrow];
  }
  if (endpoint.kind === 'stdio') return transportToProgram(endpoint, StdioClientTransport);
  return [await linkTo(endpoint.server), rethrow];
}

/** Connects `server` in memory, and returns the client's end. */
export async function linkTo(server: McpServer, caller = currentCaller): Promise<Transport> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs as unknown as Parameters<McpServer['connect']>[0]);
  const send = ours.send.bind(ours);
  ours.send = (message) => {
    const authInfo = caller();
    return send(message, authInfo && { authInfo });
  };
  return ours;
}

/**
 * Ends the call when the server is gone. If its stream breaks, this SDK reports the break, but lets the call wait for its
 * timeout. So ping the server then, and close the connection if it does not answer. The returned function stops that.
 */
function endWhenLost(client: Client) {
  let asking = false;
  client.onerror = async () => {
    if (asking) return;
    asking = true;
    await client.ping({ timeout: 5000 }).catch(() => client.close());
    asking = false;
  };
  return () => {
    asking = true;
  };
}

function send(client: Client, call: LogicalCall, options: RequestOptions): Promise<unknown> {
  switch (call.method) {
    case 'tools/call':
      return client.callTool({ ...call.params }, undefined, options);
    case 'prompts/get':
      return client.getPrompt({ ...call.params }, options);
    case 'resources/read':
      return client.readResource({ ...call.params }, options);
  }
}
