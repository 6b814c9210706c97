/** The modern client: the SDK's v2 one at 2026-07-28. */
import {
  Client,
  type RequestOptions,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type CompleteResult, type InputResponses, isInputRequiredResult } from '@mrtr/core';
import { CLIENT_INFO, type ConnectedClient, PATIENCE } from './client.ts';
import type { ClientKind, LogicalCall } from './conversation.ts';
import type { HostApplication } from './host-application.ts';
import type { Endpoint } from './hosting.ts';
import type { Recorder } from './recorder.ts';

/** Connects it. */
export async function connectModern(
  kind: ClientKind,
  application: HostApplication,
  endpoint: Endpoint,
  recorder: Recorder,
): Promise<ConnectedClient> {
  const { capabilities } = application;
  const client = new Client(CLIENT_INFO, {
    versionNegotiation: { mode: kind === 'modern-only' ? { pin: '2026-07-28' } : 'auto' },
    capabilities,
  });
  if (capabilities.elicitation) {
    client.setRequestHandler('elicitation/create', (request) => application.elicit(request));
  }
  if (capabilities.sampling) {
    client.setRequestHandler('sampling/createMessage', ({ params }) => application.createMessage(params));
  }
  if (capabilities.roots) client.setRequestHandler('roots/list', () => application.listRoots());
  await client.connect(recorder.watch(transportTo(endpoint)));
  return {
    call: (call) =>
      application.maySayNothing ? callByHand(client, call, application) : send(client, call, PATIENCE),
    close: () => client.close(),
  };
}

/** The SDK's, but it probes in place: its own class starts the program twice, once for the probe alone. */
class StdioTransport extends StdioClientTransport {}

function transportTo(endpoint: Endpoint): Transport {
  if (endpoint.kind === 'stdio') {
    const { command, args, env } = endpoint;
    return new StdioTransport({ command, args: [...args], env, stderr: 'ignore' });
  }
  if (endpoint.kind !== 'http') throw new Error(`A modern client cannot be plugged into a ${endpoint.kind}.`);
  return new StreamableHTTPClientTransport(endpoint.url, endpoint.fetch && { fetch: endpoint.fetch });
}

function send(client: Client, call: LogicalCall, options: RequestOptions): Promise<CompleteResult> {
  switch (call.method) {
    case 'tools/call':
      return client.callTool(call.params, options);
    case 'prompts/get':
      return client.getPrompt(call.params, options);
    case 'resources/read':
      return client.readResource(call.params, options);
  }
}

/** The rounds as an application makes them that fulfils them itself; so an answer can be left out. */
async function callByHand(
  client: Client,
  call: LogicalCall,
  application: HostApplication,
): Promise<CompleteResult> {
  let next = call;
  for (;;) {
    const result = await send(client, next, { ...PATIENCE, allowInputRequired: true });
    if (!isInputRequiredResult(result)) return result;
    const inputResponses: InputResponses = {};
    for (const [key, request] of Object.entries(result.inputRequests ?? {})) {
      const response = await application.answer(request);
      if (response) inputResponses[key] = response;
    }
    const { requestState } = result;
    const retry = { ...call.params, inputResponses, ...(requestState !== undefined && { requestState }) };
    next = { ...call, params: retry } as LogicalCall;
  }
}
