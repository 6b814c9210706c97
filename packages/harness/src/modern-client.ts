/** The modern client: the SDK's v2 one at 2026-07-28. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type CallToolResult, type ElicitResult, isInputRequiredResult } from '@mrtr/core';
import { answered, CLIENT_INFO, type ConnectedClient, PATIENCE, shown } from './client.ts';
import type { ConversationRequest } from './conversation.ts';
import type { Endpoint } from './hosting.ts';
import type { Recorder } from './recorder.ts';
import type { User } from './user.ts';

/** Connects it. */
export async function connectModern(
  { client: kind, user }: ConversationRequest,
  endpoint: Endpoint,
  recorder: Recorder,
): Promise<ConnectedClient> {
  const client = new Client(CLIENT_INFO, {
    versionNegotiation: { mode: kind === 'modern-only' ? { pin: '2026-07-28' } : 'auto' },
    capabilities: kind === 'mute' ? {} : { elicitation: {} },
  });
  if (kind !== 'mute') {
    client.setRequestHandler('elicitation/create', async (request) => answered(await user(shown(request))));
  }
  await client.connect(recorder.watch(transportTo(endpoint)));
  return {
    callTool: async (call) =>
      user.maySayNothing
        ? await callByHand(client, call, user)
        : ((await client.callTool(call, PATIENCE)) as CallToolResult),
    close: () => client.close(),
  };
}

function transportTo(endpoint: Endpoint): StreamableHTTPClientTransport {
  if (endpoint.kind !== 'http') throw new Error(`A modern client cannot be plugged into a ${endpoint.kind}.`);
  return new StreamableHTTPClientTransport(endpoint.url, endpoint.fetch && { fetch: endpoint.fetch });
}

/** The rounds as an application makes them that fulfils them itself; so an answer can be left out. */
async function callByHand(
  client: Client,
  call: ConversationRequest['call'],
  user: User,
): Promise<CallToolResult> {
  let params: Record<string, unknown> & ConversationRequest['call'] = { ...call };
  for (;;) {
    const result: unknown = await client.callTool(params, { ...PATIENCE, allowInputRequired: true });
    if (!isInputRequiredResult(result)) return result as CallToolResult;
    const inputResponses: Record<string, ElicitResult> = {};
    for (const [key, request] of Object.entries(result.inputRequests ?? {})) {
      const reply = await user(shown(request));
      if (reply !== 'silence') inputResponses[key] = reply;
    }
    const { requestState } = result;
    params = { ...call, inputResponses, ...(requestState !== undefined && { requestState }) };
  }
}
