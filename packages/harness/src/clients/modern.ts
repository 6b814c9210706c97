/** The modern client: the SDK's v2 one, at 2026-07-28. Loaded only when needed. */
import {
  Client,
  type InputRequiredResult,
  type InputResponses,
  type RequestOptions,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { asCaller, httpOptions } from '../hosts/caller.ts';
import type { Endpoint } from '../hosts/endpoint.ts';
import { REVISION } from '../hosts/envelope.ts';
import type { CallResult, LogicalCall } from '../transcript/call.ts';
import { CLIENT_INFO, namesOfTools, requestOptions } from './client-application.ts';
import { type Connected, ManualUser } from './manual-user.ts';
import type { RecordedApplication } from './recorded-application.ts';
import { endOf, RoundResult, type SendOptions } from './round-result.ts';
import { type Explain, rethrow, transportToProgram } from './server-program.ts';
import { questionIn, type ShownQuestion, type User } from './user.ts';

export async function connectModern(
  transport: Transport,
  application: RecordedApplication,
  fallback: boolean,
): Promise<Client> {
  const { capabilities, has } = application;
  const client = new Client(CLIENT_INFO, {
    versionNegotiation: { mode: fallback ? 'auto' : { pin: REVISION } },
    capabilities,
  });
  if (capabilities.elicitation && has.user)
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) =>
      // For a question in a result, this SDK passes its key as the id.
      application.elicit(
        questionIn(params, client.getProtocolEra() === 'modern' ? String(mcpReq.id) : undefined),
      ),
    );
  if (capabilities.sampling && has.model)
    client.setRequestHandler('sampling/createMessage', async ({ params }) =>
      application.createMessage(params),
    );
  if (capabilities.roots && has.roots)
    client.setRequestHandler('roots/list', async () => application.listRoots());
  await client.connect(transport);
  return client;
}

/** With its own class, the SDK starts the program twice, once for the probe alone. With a subclass it starts it once. */
class ProbedInPlace extends StdioClientTransport {}

function transportTo(endpoint: Endpoint, fallback: boolean): readonly [Transport, Explain] {
  // Without a fallback, a server that ends at the probe cannot be called anyway, so one process is enough.
  if (endpoint.kind === 'stdio')
    return transportToProgram(endpoint, fallback ? StdioClientTransport : ProbedInPlace);
  if (endpoint.kind !== 'http') throw new Error(`A modern client cannot be plugged into a ${endpoint.kind}.`);
  return [new StreamableHTTPClientTransport(endpoint.url, httpOptions(endpoint)), rethrow];
}

/** Connects a client whose conversation is recorded. */
export async function connectTo(
  endpoint: Endpoint,
  application: RecordedApplication,
  user: User | undefined,
  fallback: boolean,
): Promise<Connected> {
  const [transport, explain] = transportTo(endpoint, fallback);
  const client = await connectModern(application.recorder.watch(transport), application, fallback).catch(
    explain,
  );
  const request: MakeRequest = (call, options) => send(client, call, options).catch(explain);
  return {
    era: client.getProtocolEra() ?? 'modern',
    // The SDK's client answers every question. A user who may be silent needs rounds by hand.
    call: (call, signal) =>
      user?.maySayNothing
        ? answerAll(user, byHand(request, call, application, new ManualUser(), { signal }))
        : endOf(request(call, requestOptions(signal))),
    firstRound: (call, manualUser, signal) => byHand(request, call, application, manualUser, { signal }),
    toolNames: () => namesOfTools(client),
    close: () => client.close(),
  };
}

async function answerAll(user: User, first: Promise<RoundResult>) {
  let round = await first;
  while (!round.end) round = await round.answer(user);
  return round.end;
}

type MakeRequest = (call: LogicalCall, options: RequestOptions) => Promise<CallResult>;

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

/** Makes the rounds of a call by hand, as an application that answers `input_required` itself. */
function byHand(
  request: MakeRequest,
  { method, params }: LogicalCall,
  application: RecordedApplication,
  manualUser: ManualUser,
  first: SendOptions,
): Promise<RoundResult> {
  /** Sends a request of the call. An old server asks over the connection meanwhile. */
  const send = (retry: object, { signal, caller }: SendOptions = {}): Promise<RoundResult> => {
    const call = { method, params: { ...params, ...retry } } as LogicalCall;
    const options = { ...requestOptions(signal), allowInputRequired: true };
    return manualUser.round(endOf(asCaller(caller, () => request(call, options))), (end) =>
      end.result?.resultType === 'input_required'
        ? ask(end.result as unknown as InputRequiredResult)
        : application.endWith(end),
    );
  };
  const ask = async ({ inputRequests = {}, requestState }: InputRequiredResult): Promise<RoundResult> => {
    const questions: Record<string, ShownQuestion> = {};
    const ids: Record<string, number> = {};
    for (const [key, asked] of Object.entries(inputRequests)) {
      if (asked.method !== 'elicitation/create') continue;
      const question = questionIn(asked.params, key);
      questions[key] = question;
      ids[key] = await application.show(question);
    }
    return new RoundResult(questions, async (replyTo) => {
      const inputResponses: InputResponses = {};
      for (const [key, asked] of Object.entries(inputRequests)) {
        if (asked.method !== 'elicitation/create') {
          inputResponses[key] = await application.fulfil(asked);
          continue;
        }
        const reply = await replyTo(questions[key] as ShownQuestion);
        application.recordReply(ids[key] as number, reply);
        if (reply !== 'silence') inputResponses[key] = reply;
      }
      const next = { inputResponses, ...(requestState !== undefined && { requestState }) };
      return (options) => send(next, options);
    });
  };
  return send({}, first);
}
