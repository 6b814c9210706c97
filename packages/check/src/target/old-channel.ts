/**
 * Calls a server of 2025-11-25 by the client of the published v1 SDK. There a tool asks by a request on its session. This
 * channel returns each such request as the question of one round, and sends the answer of the retry as its response. So the
 * checks about users need not know the revision.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { Protocol } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  McpError,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { type Channel, lateness, OVER, type Patience } from '../wire/channel.ts';
import { asObject, type JsonObject, objectAt } from '../wire/json.ts';
import type { ServerReply } from '../wire/reply.ts';
import { ALL_CAPABILITIES, type WireRequest } from '../wire/request.ts';

/** Opens the transport of a session. `isShared`: of the one that all calls of a started program share. */
export type Connect = (isShared: boolean) => Promise<Transport>;

/** The v1 SDK's prefix to every error message of a server. */
const PREFIX = /^MCP error -?\d+: */;

/** Longer than any check waits: this file has its own limit, which a question does not count in. */
const NEVER_MS = 2 ** 31 - 1;

export class OldChannel implements Channel {
  readonly #connect: Connect;
  readonly #patience: Patience;
  readonly #sharesSession: boolean;
  readonly #asking = new Map<string, OldCall>();
  readonly #clients: Promise<OldClient>[] = [];
  #shared: Promise<OldClient> | undefined;
  #lastId = 0;

  /** @param sharesSession whether all calls have one session, as over stdio, where a process has one */
  constructor(connect: Connect, patience: Patience, sharesSession: boolean) {
    this.#connect = connect;
    this.#patience = patience;
    this.#sharesSession = sharesSession;
  }

  async send(request: WireRequest): Promise<ServerReply> {
    const { requestState, inputResponses, ...params } = request.params;
    const asking = this.#asking.get(String(requestState));
    if (requestState !== undefined && !asking)
      return { messages: [], ms: 0, failure: 'this question of the session was answered before' };
    const id = ++this.#lastId;
    this.#asking.delete(String(requestState));
    if (asking) asking.answer(Object.values(asObject(inputResponses))[0]);
    const call = asking ?? (await this.#begin({ ...request, params }));
    if (!(call instanceof OldCall)) return call;
    const reply = await call.next(id, this.#patience);
    if (reply.result?.resultType === 'input_required') this.#asking.set(String(id), call);
    return reply;
  }

  async close(): Promise<void> {
    const clients = await Promise.allSettled(this.#clients);
    await Promise.allSettled(clients.map((one) => one.status === 'fulfilled' && one.value.close()));
  }

  async #begin({ method, params, capabilities }: WireRequest): Promise<OldCall | ServerReply> {
    const started = performance.now();
    try {
      return (await this.#client(capabilities)).begin(method, params);
    } catch (error) {
      const failure = `no session could be opened: ${(error as Error).message}`;
      return { messages: [], ms: performance.now() - started, failure };
    }
  }

  /** A session for one call, or the shared one. Each declares its capabilities once, when it begins. */
  #client(capabilities: JsonObject | undefined): Promise<OldClient> {
    const isShared = this.#sharesSession && capabilities === undefined;
    if (isShared && this.#shared) return this.#shared;
    const client = this.#connect(isShared).then((transport) => OldClient.open(transport, capabilities));
    if (isShared) this.#shared = client;
    this.#clients.push(client);
    return client;
  }
}

class OldClient {
  readonly #client: Client;
  readonly #transport: Transport;
  /** The call that waits for the server. A question belongs to it: none of the others may ask before its answer. */
  #waiting: OldCall | undefined;

  private constructor(client: Client, transport: Transport) {
    this.#client = client;
    this.#transport = transport;
  }

  static async open(transport: Transport, capabilities = ALL_CAPABILITIES): Promise<OldClient> {
    const client = new Client({ name: 'mrtr-check', version: '0.0.0' }, { capabilities });
    const opened = new OldClient(client, transport);
    // The method of `Client` would reject the wrong answers that checks send.
    const handle: typeof client.setRequestHandler = Protocol.prototype.setRequestHandler.bind(client);
    if (capabilities.elicitation)
      handle(ElicitRequestSchema, ({ params }) => opened.#ask(params as JsonObject));
    if (capabilities.sampling)
      handle(CreateMessageRequestSchema, () => ({
        ...{ role: 'assistant', model: 'mrtr-check', content: { type: 'text', text: 'Yes.' } },
      }));
    if (capabilities.roots) handle(ListRootsRequestSchema, () => ({ roots: [] }));
    await client.connect(transport);
    const { onmessage } = transport;
    transport.onmessage = (message, extra) => {
      opened.#waiting?.received.push({ text: JSON.stringify(message), value: message });
      onmessage?.(message, extra);
    };
    return opened;
  }

  begin(method: string, params: JsonObject): OldCall {
    const given = new AbortController();
    const options = { timeout: NEVER_MS, signal: given.signal };
    const result = this.#client.request({ method, params }, ResultSchema, options);
    return new OldCall(result, given, (call) => {
      this.#waiting = call;
    });
  }

  async close(): Promise<void> {
    await this.#client.close();
    await this.#transport.close();
  }

  #ask(params: JsonObject): Promise<JsonObject> {
    if (!this.#waiting) throw new Error('No call waits for this question.');
    return this.#waiting.ask(params);
  }
}

type Ending = Pick<ServerReply, 'result' | 'error' | 'failure' | 'late'>;

interface Pending {
  readonly params: JsonObject;
  readonly answer: (response: JsonObject) => void;
}

class OldCall {
  /** The messages since the last reply. */
  received: { readonly text: string; readonly value: unknown }[] = [];
  readonly #cancel: AbortController;
  readonly #wait: (call: OldCall) => void;
  /** In the order in which they came: the first is asked next. */
  readonly #questions: Pending[] = [];
  #asked: Pending | undefined;
  #end: Ending | undefined;
  #deliver: (() => void) | undefined;

  constructor(result: Promise<object>, cancel: AbortController, wait: (call: OldCall) => void) {
    this.#cancel = cancel;
    this.#wait = wait;
    result.then(
      (value) => this.#finish({ result: value as JsonObject }),
      (error: Error) => this.#finish(readError(error)),
    );
  }

  ask(params: JsonObject): Promise<JsonObject> {
    return new Promise((answer) => {
      this.#questions.push({ params, answer });
      this.#deliver?.();
    });
  }

  /** Answers the last question. Without a response it was dismissed. */
  answer(response: unknown): void {
    this.#asked?.answer(asObject(response ?? { action: 'cancel' }));
  }

  /** The next question, or the end. A call that takes too long is cancelled. */
  async next(id: number, { timeoutMs, over }: Patience): Promise<ServerReply> {
    const started = performance.now();
    this.#wait(this);
    const done = new AbortController();
    await new Promise<void>((resolve) => {
      const giveUp = (end: Ending) => {
        this.#end ??= end;
        this.#cancel.abort();
        resolve();
      };
      const timer = setTimeout(giveUp, timeoutMs, { failure: lateness(timeoutMs), late: true });
      done.signal.addEventListener('abort', () => clearTimeout(timer));
      over.addEventListener('abort', () => giveUp({ failure: OVER }), { signal: done.signal });
      this.#deliver = () => {
        if (this.#end || this.#questions.length > 0) resolve();
      };
      this.#deliver();
    });
    done.abort();
    this.#asked = this.#end ? undefined : this.#questions.shift();
    const messages = this.received.splice(0);
    const text = messages.at(-1)?.text;
    const base = { id, messages, ms: performance.now() - started, ...(text !== undefined && { text }) };
    return { ...base, ...(this.#asked ? { result: asRound(this.#asked.params, id) } : this.#end) };
  }

  #finish(end: Ending): void {
    this.#end ??= end;
    this.#deliver?.();
  }
}

/** A question of a session has no key, so the name of its first field stands for one. */
function asRound(params: JsonObject, id: number): JsonObject {
  const [field = params.mode === 'url' ? 'page' : 'question'] = Object.keys(
    objectAt(params.requestedSchema, 'properties'),
  );
  const inputRequests = { [field]: { method: 'elicitation/create', params } };
  return { resultType: 'input_required', inputRequests, requestState: String(id) };
}

function readError(error: Error): Ending {
  if (!(error instanceof McpError)) return { failure: error.message };
  const { code, data } = error;
  const message = error.message.replace(PREFIX, '');
  return { error: { code, message, ...(data !== undefined && { data }) } };
}
