/** Questions, answers, and a deployment with its clients, for the tests of all shapes. */

import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import type {
  AuthInfo,
  ClientCapabilities,
  ElicitResult,
  InputRequest,
  InputRequests,
} from '@modelcontextprotocol/server';
import {
  elicitation,
  type McpServer,
  protectedServer,
  type RequestStateOptions,
  type RequestStatePolicy,
  requestStatePolicy,
  type ServerContext,
} from '@mrtr/core';
import { AnswerReads } from '@mrtr/core/internal';
import type { Call, CompleteResult, SdkCallback } from '@mrtr/core/shape';
import { InProcess } from '@mrtr/harness';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

const SERVER = { name: 'shapes-test', version: '0.0.0' };
const KEY = 'k'.repeat(32);

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

/** Answers a question from its message. */
type User = (message: string) => ElicitResult;

export type Register = (server: McpServer) => void;

/** Registers `callback` as a tool, by default named `tool`. */
export const tool =
  <R extends CompleteResult>(callback: SdkCallback<Args, R>, toolName = 'tool'): Register =>
  (server) => {
    server.registerTool(
      toolName,
      { inputSchema: Args },
      callback as Parameters<typeof server.registerTool>[2],
    );
  };

/** Makes `fn` an effect that counts its runs, and gets the number of the run. */
export function countRuns<T>(fn: (run: number) => T) {
  const effect = () => fn(++effect.runs);
  effect.runs = 0;
  return effect;
}

let calls = 0;

/** A request without a server: the parts of the record that shapes read, and an SDK context that carries it. */
export function requestOf(
  over: Partial<Call>,
  mcpReq: { readonly signal?: AbortSignal; readonly inputResponses?: object; readonly requestState?: object },
): { readonly call: Call; readonly ctx: ServerContext } {
  const limits = { rounds: 10, questions: 32, stateBytes: 65_536 };
  const about = {
    id: `call ${++calls}`,
    method: 'tools/call',
    target: 'tool',
    revision: '2026-07-28',
  } as const;
  const call = {
    ...about,
    round: 1,
    limits,
    pseudonym: undefined,
    asked: new Map(),
    timesUnfit: new Map(),
    reads: new AnswerReads(),
    askable: ['elicitation'],
    signal: mcpReq.signal,
    ...over,
  } as Partial<Call> as Call;
  return { call, ctx: { mcpReq, [Symbol.for('mrtr.call')]: call } as unknown as ServerContext };
}

/** A client's response to one request, small enough to compare as a whole. `state` is sealed. */
export interface RoundSummary {
  /** Messages by key; the method for questions that no user sees. */
  readonly asks?: Readonly<Record<string, string>>;
  readonly state?: string | undefined;
  readonly says?: string;
  /** The text of a tool's error result. */
  readonly fails?: string;
  /** The message of a JSON-RPC error. */
  readonly rejects?: string;
  /** The capabilities that a `-32021` names. */
  readonly lacks?: unknown;
}

interface Round {
  readonly arguments?: Args;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly requestState?: string | undefined;
}

/** A deployment: a new server for each request, one key, and the version that was deployed last. */
export class TestDeployment {
  readonly policy: RequestStatePolicy;
  #register: Register;
  #inProcess: InProcess;

  constructor(register: Register, state: RequestStateOptions = {}) {
    this.policy = requestStatePolicy({ keys: [KEY], singleUse: false, ...state });
    this.#register = register;
    this.#inProcess = new InProcess(() => this.server());
    onTestFinished(() => this.#inProcess.close());
  }

  /** The caller of all requests from now on. */
  set caller(caller: AuthInfo | undefined) {
    this.#inProcess.caller = caller;
  }

  /** Deploys another version; calls under way are resumed by it. */
  deploy(register: Register): void {
    this.#register = register;
  }

  /** Serves from `factory`, which may leave out the protection. */
  serve(factory: () => McpServer): void {
    this.#inProcess = new InProcess(factory);
  }

  server(): McpServer {
    const server = protectedServer(SERVER, this.policy);
    this.#register(server);
    return server;
  }

  /** A modern client. `user` answers the questions of {@link Caller.call}. */
  async connect(user?: User, capabilities: ClientCapabilities = { elicitation: {} }): Promise<Caller> {
    const elicit = ({ message }: { readonly message: string }) => {
      if (!user) throw new Error(`Nobody answers "${message}".`);
      return user(message);
    };
    return new Caller(await this.#inProcess.modern({ capabilities, user: elicit }));
  }

  /** An old client. Without a user it cannot be asked: it declares nothing, or has no handler for what it declares. */
  async connectLegacy(user?: User, capabilities: ClientCapabilities = user ? { elicitation: {} } : {}) {
    /** The messages that the user saw, in order. */
    const questions: string[] = [];
    const elicit =
      user &&
      (({ message }: { readonly message: string }) => {
        questions.push(message);
        return user(message);
      });
    const client = await this.#inProcess.legacy({
      capabilities,
      user: elicit && Object.assign(elicit, { open: elicit }),
    });
    return {
      questions,
      call: (options?: Pick<RequestOptions, 'signal'>) =>
        outcomeOf(() => client.callTool({ name: 'tool', arguments: {} }, undefined, options)),
    };
  }
}

/** A modern client that makes a whole call ({@link call}) or single rounds ({@link send}, {@link answer}). */
export class Caller {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** The whole call, answered by the user. */
  call(args: Args = {}): Promise<RoundSummary> {
    return outcomeOf(() => this.#client.callTool({ name: 'tool', arguments: args }));
  }

  /** Sends one request. */
  send(round: Round = {}, options: RequestOptions = {}): Promise<RoundSummary> {
    const params = { name: 'tool', arguments: {}, ...round };
    return outcomeOf(() => this.#client.callTool(params as never, { ...options, allowInputRequired: true }));
  }

  /** The next round after `outcome`, with these answers. May be sent twice. */
  answer(outcome: RoundSummary, inputResponses: Readonly<Record<string, unknown>>, options?: RequestOptions) {
    return this.send({ inputResponses, requestState: outcome.state }, options);
  }

  /** The tools that the server lists. */
  async tools() {
    return (await this.#client.listTools()).tools;
  }

  prompt(round: Round = {}): Promise<RoundSummary> {
    const params = { name: 'prompt', arguments: {}, ...round };
    return outcomeOf(() => this.#client.getPrompt(params as never, { allowInputRequired: true }));
  }

  resource(round: Round = {}): Promise<RoundSummary> {
    const params = { uri: 'test://resource', ...round };
    return outcomeOf(() => this.#client.readResource(params as never, { allowInputRequired: true }));
  }
}

interface AnyResult {
  readonly resultType?: string;
  readonly inputRequests?: InputRequests;
  readonly requestState?: string;
  readonly isError?: boolean;
  readonly content?: readonly { readonly text: string }[];
  readonly messages?: readonly { readonly content: { readonly text: string } }[];
  readonly contents?: readonly { readonly text: string }[];
}

async function outcomeOf(request: () => Promise<unknown>): Promise<RoundSummary> {
  let result: AnyResult;
  try {
    result = (await request()) as AnyResult;
  } catch (error) {
    const { code, data, message } = error as Error & {
      code?: number;
      data?: { requiredCapabilities: unknown };
    };
    return code === -32021 ? { lacks: data?.requiredCapabilities } : { rejects: message };
  }
  if (result.resultType === 'input_required') {
    const asks = Object.entries(result.inputRequests ?? {}).map(([key, asked]) => [key, messageOf(asked)]);
    return { asks: Object.fromEntries(asks), state: result.requestState };
  }
  const text = result.content?.[0]?.text ?? result.contents?.[0]?.text ?? result.messages?.[0]?.content.text;
  return result.isError ? { fails: text ?? '' } : { says: text ?? '' };
}

/** The text that the user reads; the method of questions that no user sees. */
const messageOf = ({ method, params }: InputRequest): string =>
  (params as { message?: string } | undefined)?.message ?? method;
