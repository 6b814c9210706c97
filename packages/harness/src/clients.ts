/** Real clients: the SDK's v2 one and, as a genuinely old one, the published v1. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as V1HttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport as V1InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { type CallToolResult, type ElicitResult, type InputRequest, isInputRequiredResult } from '@mrtr/core';
import type { ConversationRequest } from './conversation.ts';
import type { Hosting } from './hosting.ts';
import type { Recorder } from './recorder.ts';
import { type Reply, type ShownQuestion, shownQuestion, type User } from './user.ts';

/** A connected client, ready for the one call of its conversation. */
export interface ConnectedClient {
  callTool(call: ConversationRequest['call']): Promise<CallToolResult>;
  close(): Promise<void>;
}

const INFO = { name: 'mrtr-shapes-client', version: '0.0.0' };
const URL_IN_PROCESS = new URL('http://mrtr.invalid/mcp');

/** Connects a client of the kind that `request` names. */
export function connect(
  request: ConversationRequest,
  hosting: Hosting,
  recorder: Recorder,
): Promise<ConnectedClient> {
  return request.client === 'legacy'
    ? connectLegacy(request, hosting, recorder)
    : connectModern(request, hosting, recorder);
}

async function connectModern(
  { client: kind, user }: ConversationRequest,
  hosting: Hosting,
  recorder: Recorder,
): Promise<ConnectedClient> {
  const client = new Client(INFO, {
    versionNegotiation: { mode: kind === 'modern-only' ? { pin: '2026-07-28' } : 'auto' },
    capabilities: kind === 'mute' ? {} : { elicitation: {} },
  });
  if (kind !== 'mute') {
    client.setRequestHandler('elicitation/create', async (request) => answered(await user(shown(request))));
  }
  const http = new StreamableHTTPClientTransport(URL_IN_PROCESS, { fetch: hosting.fetch });
  await client.connect(recorder.watch(http));
  return {
    callTool: async (call) =>
      user.maySayNothing
        ? await callByHand(client, call, user)
        : ((await client.callTool(call)) as CallToolResult),
    close: () => client.close(),
  };
}

/** The rounds as an application makes them that fulfils them itself; so an answer can be left out. */
async function callByHand(
  client: Client,
  call: ConversationRequest['call'],
  user: User,
): Promise<CallToolResult> {
  let params: Record<string, unknown> & ConversationRequest['call'] = { ...call };
  for (;;) {
    const result: unknown = await client.callTool(params, { allowInputRequired: true });
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

async function connectLegacy(
  { hosting: kind, user }: ConversationRequest,
  hosting: Hosting,
  recorder: Recorder,
): Promise<ConnectedClient> {
  const client = new V1Client(INFO, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async (request) => ({
    ...answered(await user(shown(request))),
  }));
  if (kind === 'memory') {
    const [ours, theirs] = V1InMemoryTransport.createLinkedPair();
    const server = hosting.instance().server();
    // The two SDKs' transports are the same at run time; their types differ in what is optional.
    await server.connect(theirs as unknown as Parameters<typeof server.connect>[0]);
    await client.connect(recorder.watch(ours));
  } else {
    const http = new V1HttpTransport(URL_IN_PROCESS, { fetch: hosting.fetch });
    await client.connect(recorder.watch(http as unknown as V1InMemoryTransport));
  }
  return {
    callTool: async (call) => (await client.callTool({ ...call })) as CallToolResult,
    close: () => client.close(),
  };
}

/** Over a held-open stream a client has to answer something: an answer with nothing in it. */
const answered = (reply: Reply): ElicitResult => (reply === 'silence' ? { action: 'accept' } : reply);

function shown(request: unknown): ShownQuestion {
  const question = shownQuestion(request as InputRequest);
  if (!question) throw new Error(`Expected a question for the user, got ${JSON.stringify(request)}.`);
  return question;
}
