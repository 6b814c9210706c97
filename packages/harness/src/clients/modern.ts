/** The modern client: the SDK's v2 one at 2026-07-28. Loaded when one is needed. */
import {
  Client,
  type InputRequiredResult,
  type InputResponses,
  type RequestOptions,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { CallResult, LogicalCall } from '../call.ts';
import type { Endpoint } from '../endpoint.ts';
import {
  CLIENT_INFO,
  type ClientApplication,
  callback,
  capabilitiesOf,
  PATIENCE,
} from './client-application.ts';
import type { RecordedApplication } from './recorded-application.ts';

/** See `modernClient`. */
export async function connectModern(
  transport: Transport,
  application: ClientApplication,
  fallback: boolean,
): Promise<Client> {
  const capabilities = capabilitiesOf(application);
  const client = new Client(CLIENT_INFO, {
    versionNegotiation: { mode: fallback ? 'auto' : { pin: '2026-07-28' } },
    capabilities,
  });
  if (capabilities.elicitation) {
    const elicit = callback(application, 'elicit');
    client.setRequestHandler('elicitation/create', async ({ params }) =>
      elicit(params as Parameters<typeof elicit>[0]),
    );
  }
  if (capabilities.sampling) {
    const createMessage = callback(application, 'createMessage');
    client.setRequestHandler('sampling/createMessage', async ({ params }) => createMessage(params));
  }
  if (capabilities.roots) {
    const listRoots = callback(application, 'listRoots');
    client.setRequestHandler('roots/list', async () => listRoots());
  }
  await client.connect(transport);
  return client;
}

/** The SDK's, but it probes in place: its own class starts the program twice, once for the probe alone. */
class StdioTransport extends StdioClientTransport {}

/** A transport to a server. */
export function transportTo(endpoint: Endpoint): Transport {
  if (endpoint.kind === 'stdio') {
    const { command, args, env = {} } = endpoint;
    return new StdioTransport({ command, args: [...args], env, stderr: 'ignore' });
  }
  if (endpoint.kind !== 'http') throw new Error(`A modern client cannot be plugged into a ${endpoint.kind}.`);
  return new StreamableHTTPClientTransport(endpoint.url, endpoint.fetch && { fetch: endpoint.fetch });
}

/** Makes the call, in as many rounds as it takes. */
export const makeCall = (
  client: Client,
  call: LogicalCall,
  application: RecordedApplication,
): Promise<CallResult> =>
  application.maySayNothing ? callByHand(client, call, application) : send(client, call, PATIENCE);

function send(client: Client, call: LogicalCall, options: RequestOptions): Promise<CallResult> {
  switch (call.method) {
    case 'tools/call':
      return client.callTool(call.params, options);
    case 'prompts/get':
      return client.getPrompt(call.params, options);
    case 'resources/read':
      return client.readResource(call.params, options);
  }
}

/** The rounds as an application makes them that fulfils them itself, so that an answer can be left out. */
async function callByHand(
  client: Client,
  call: LogicalCall,
  application: RecordedApplication,
): Promise<CallResult> {
  let next = call;
  for (;;) {
    const result = await send(client, next, { ...PATIENCE, allowInputRequired: true });
    if (result.resultType !== 'input_required') return result;
    const { inputRequests = {}, requestState } = result as unknown as InputRequiredResult;
    const inputResponses: InputResponses = {};
    for (const [key, request] of Object.entries(inputRequests)) {
      const response = await application.answer(request);
      if (response) inputResponses[key] = response;
    }
    const retry = { ...call.params, inputResponses, ...(requestState !== undefined && { requestState }) };
    next = { ...call, params: retry } as LogicalCall;
  }
}
