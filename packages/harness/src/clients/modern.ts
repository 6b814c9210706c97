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
import type { Endpoint } from '../hosts/endpoint.ts';
import type { CallResult, LogicalCall, Reply } from '../transcript/call.ts';
import type { End } from '../transcript/transcript.ts';
import {
  CLIENT_INFO,
  type ClientApplication,
  callback,
  capabilitiesOf,
  PATIENCE,
} from './client-application.ts';
import { type ByHand, Hand } from './hand.ts';
import type { RecordedApplication } from './recorded-application.ts';
import { endOf, Round } from './round.ts';
import { questionIn, type ShownQuestion, type User } from './user.ts';

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
  { application, user }: { readonly application: RecordedApplication; readonly user: User | undefined },
): Promise<End> =>
  user?.maySayNothing
    ? answerAll(user, firstRound(client, call, { application, hand: new Hand() }))
    : endOf(send(client, call, PATIENCE));

/** The SDK's client answers every question, so a user who may be silent needs rounds by hand. */
async function answerAll(user: User, first: Promise<Round>): Promise<End> {
  let round = await first;
  while (!round.end) round = await round.answer(user);
  return round.end;
}

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

/** Makes the first request of the call, and leaves the answers to the caller. */
export const firstRound = (client: Client, call: LogicalCall, byHand: ByHand): Promise<Round> =>
  new Rounds(client, call, byHand).send({}, byHand.signal);

/** The rounds as an application makes them that fulfils them itself. */
class Rounds {
  readonly #client: Client;
  readonly #call: LogicalCall;
  readonly #application: RecordedApplication;
  readonly #hand: Hand;

  constructor(client: Client, call: LogicalCall, { application, hand }: ByHand) {
    this.#client = client;
    this.#call = call;
    this.#application = application;
    this.#hand = hand;
  }

  /** An old server asks over the connection meanwhile. */
  send(retry: object, signal?: AbortSignal): Promise<Round> {
    const call = { ...this.#call, params: { ...this.#call.params, ...retry } } as LogicalCall;
    const options = { ...PATIENCE, allowInputRequired: true, ...(signal && { signal }) };
    return this.#hand.round(endOf(send(this.#client, call, options)), (end) =>
      end.result?.resultType === 'input_required'
        ? this.#asking(end.result as unknown as InputRequiredResult)
        : this.#application.endWith(end),
    );
  }

  async #asking({ inputRequests = {}, requestState }: InputRequiredResult): Promise<Round> {
    const questions: Record<string, ShownQuestion> = {};
    const ids = new Map<string, number>();
    for (const [key, request] of Object.entries(inputRequests)) {
      if (request.method !== 'elicitation/create') continue;
      const question = questionIn(request.params);
      questions[key] = question;
      ids.set(key, await this.#application.show(question, key));
    }
    return Round.asking(questions, async (replyTo) => {
      const inputResponses: InputResponses = {};
      for (const [key, request] of Object.entries(inputRequests)) {
        const response =
          request.method === 'elicitation/create'
            ? await replyTo(key, questionIn(request.params))
            : await this.#application.fulfil(request);
        const id = ids.get(key);
        if (id !== undefined) this.#application.recordReply(id, response as Reply);
        if (response !== 'silence') inputResponses[key] = response;
      }
      const retry = { inputResponses, ...(requestState !== undefined && { requestState }) };
      return (signal) => this.send(retry, signal);
    });
  }
}
