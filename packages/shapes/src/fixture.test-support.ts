/** Real servers and clients in one process, for the tests of the shapes. */
import { type AuthInfo, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import {
  type ClientCapabilities,
  type CompleteResult,
  type ElicitResult,
  elicitation,
  type InputRequest,
  type InputRequests,
  type McpServer,
  protectedServer,
  type RequestStateOptions,
  type RequestStatePolicy,
  requestStatePolicy,
  type SdkCallback,
} from '@mrtr/core';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

const SERVER = { name: 'shapes-test', version: '0.0.0' };
const CLIENT = { name: 'shapes-test-client', version: '0.0.0' };
const KEY = 'k'.repeat(32);
const MCP_URL = new URL('http://shapes.invalid/mcp');

/** The arguments of every tool here. */
export const Args = z.object({ n: z.number().optional() });
export type Args = z.infer<typeof Args>;

export const Units = z.object({ units: z.enum(['metric', 'imperial']) });
export const Name = z.object({ name: z.string().min(1) });
export const units = elicitation('Which units?', Units);
export const name = elicitation('Which name?', Name);

export const accept = (content: Record<string, string | number | boolean>): ElicitResult => ({
  action: 'accept',
  content,
});
export const metric = accept({ units: 'metric' });
export const kelvin = accept({ units: 'kelvin' });
export const ada = accept({ name: 'Ada' });
export const decline: ElicitResult = { action: 'decline' };
export const cancel: ElicitResult = { action: 'cancel' };

export type Register = (server: McpServer) => void;

/** Registers `callback` as the tool named `tool`, unless told otherwise. */
export const tool =
  <R extends CompleteResult>(callback: SdkCallback<Args, R>, toolName = 'tool'): Register =>
  (server) => {
    server.registerTool(
      toolName,
      { inputSchema: Args },
      callback as Parameters<typeof server.registerTool>[2],
    );
  };

/** `fn` as an effect that counts its runs, and is told which one it is. */
export function counted<T>(fn: (run: number) => T) {
  const effect = () => fn(++effect.runs);
  effect.runs = 0;
  return effect;
}

/** A promise that a test settles by hand. */
export class Gate<T = void> {
  readonly promise: Promise<T>;
  open!: (value: T) => void;
  fail!: (reason: unknown) => void;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.open = resolve;
      this.fail = reject;
    });
  }
}

/** Lets everything that is ready run: some turns of the event loop, and no time. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

/** What came of one request, small enough to compare as a whole. `state` is sealed. */
export interface Outcome {
  /** Messages by key; for what no user sees, the method. */
  readonly asks?: Readonly<Record<string, string>>;
  readonly state?: string | undefined;
  readonly says?: string;
  /** The text of a tool's error result. */
  readonly fails?: string;
  /** The message of a JSON-RPC error. */
  readonly rejects?: string;
}

interface Round {
  readonly name?: string;
  readonly arguments?: Args;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly requestState?: string | undefined;
}

/** A deployment: fresh servers per request, one key, and whatever was deployed last. */
export class Site {
  readonly policy: RequestStatePolicy;
  #register: Register;
  #handler: McpHttpHandler;
  /** Who is calling, from now on. */
  caller: AuthInfo | undefined;

  constructor(register: Register, state: RequestStateOptions = {}) {
    this.policy = requestStatePolicy({ keys: [KEY], ...state });
    this.#register = register;
    this.#handler = createMcpHandler(() => this.server());
  }

  /** Puts another version in place; calls under way go on with it. */
  deploy(register: Register): void {
    this.#register = register;
  }

  /** Serves from `factory`, which need not protect anything. */
  serve(factory: () => McpServer): void {
    this.#handler = createMcpHandler(factory);
  }

  server(): McpServer {
    const server = protectedServer(SERVER, this.policy);
    this.#register(server);
    return server;
  }

  fetch = (url: string | URL, init?: RequestInit): Promise<Response> =>
    this.#handler.fetch(new Request(url, init), this.caller === undefined ? {} : { authInfo: this.caller });

  /** A modern client. `user` fulfils the questions of {@link Caller.call}. */
  async connect(
    user?: (message: string) => ElicitResult,
    capabilities: ClientCapabilities = { elicitation: {} },
  ): Promise<Caller> {
    const client = new Client(CLIENT, { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities });
    if ('elicitation' in capabilities) {
      client.setRequestHandler('elicitation/create', ({ params }) => {
        if (!user) throw new Error(`Nobody answers "${params.message}".`);
        return user(params.message);
      });
    }
    await client.connect(new StreamableHTTPClientTransport(MCP_URL, { fetch: this.fetch }));
    onTestFinished(() => client.close());
    return new Caller(client);
  }

  /** The published v1 client, on a connection of its own. */
  async connectLegacy(user: (message: string) => ElicitResult): Promise<LegacyCaller> {
    const client = new LegacyClient(CLIENT, { capabilities: { elicitation: {} } });
    const questions: string[] = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      questions.push(params.message);
      return { ...user(params.message) };
    });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const server = this.server();
    await server.connect(theirs as unknown as Parameters<typeof server.connect>[0]);
    await client.connect(ours);
    onTestFinished(() => client.close());
    return { questions, call: (args = {}) => seen(() => client.callTool({ name: 'tool', arguments: args })) };
  }
}

export interface LegacyCaller {
  /** Messages, as they were shown. */
  readonly questions: string[];
  readonly call: (args?: Args) => Promise<Outcome>;
}

/** A modern client that makes its rounds by itself ({@link call}) or one by one ({@link send}, {@link answer}). */
export class Caller {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** The whole call, answered by the user. */
  call(args: Args = {}): Promise<Outcome> {
    return seen(() => this.#client.callTool({ name: 'tool', arguments: args }));
  }

  /** One request, as it is. */
  send(round: Round = {}, signal?: AbortSignal): Promise<Outcome> {
    const params = { name: 'tool', arguments: {}, ...stated(round) };
    const options = { allowInputRequired: true, ...(signal && { signal }) } as const;
    return seen(() => this.#client.callTool(params as never, options));
  }

  /** The next round after `outcome`, with these answers. May be sent twice. */
  answer(outcome: Outcome, inputResponses: Readonly<Record<string, unknown>>, signal?: AbortSignal) {
    return this.send({ inputResponses, requestState: outcome.state }, signal);
  }

  /** What the server says of its tools. */
  async tools() {
    return (await this.#client.listTools()).tools;
  }

  prompt(round: Round = {}): Promise<Outcome> {
    const params = { name: 'prompt', arguments: {}, ...stated(round) };
    return seen(() => this.#client.getPrompt(params as never, { allowInputRequired: true }));
  }

  resource(round: Round = {}): Promise<Outcome> {
    const params = { uri: 'test://resource', ...stated(round) };
    return seen(() => this.#client.readResource(params as never, { allowInputRequired: true }));
  }
}

const stated = ({ requestState, ...round }: Round) => ({
  ...round,
  ...(requestState !== undefined && { requestState }),
});

interface AnyResult {
  readonly resultType?: string;
  readonly inputRequests?: InputRequests;
  readonly requestState?: string;
  readonly isError?: boolean;
  readonly content?: readonly { readonly text: string }[];
  readonly messages?: readonly { readonly content: { readonly text: string } }[];
  readonly contents?: readonly { readonly text: string }[];
}

async function seen(request: () => Promise<unknown>): Promise<Outcome> {
  let result: AnyResult;
  try {
    result = (await request()) as AnyResult;
  } catch (error) {
    return { rejects: (error as Error).message };
  }
  if (result.resultType === 'input_required') {
    const asks = Object.entries(result.inputRequests ?? {}).map(([key, asked]) => [key, messageOf(asked)]);
    return { asks: Object.fromEntries(asks), state: result.requestState };
  }
  const text = result.content?.[0]?.text ?? result.contents?.[0]?.text ?? result.messages?.[0]?.content.text;
  return result.isError ? { fails: text ?? '' } : { says: text ?? '' };
}

/** What the user reads; of what no user sees, its method. */
const messageOf = ({ method, params }: InputRequest): string =>
  (params as { message?: string } | undefined)?.message ?? method;
