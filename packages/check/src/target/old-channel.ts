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
import { lateness, OVER, type Patience } from '../wire/channel.ts';
import { asObject, type JsonObject, objectAt } from '../wire/json.ts';
import type { RawMessage, ServerReply } from '../wire/reply.ts';
import { ALL_CAPABILITIES, type WireRequest } from '../wire/request.ts';

/** Opens the transport of a session. `isShared`: of the one that all calls of a started program share. */
export type Connect = (isShared: boolean) => Promise<Transport>;

/** The v1 SDK's prefix to every error message of a server. */
const PREFIX = /^MCP error -?\d+: */;

/** Longer than any check waits: this file has its own limit, which a question does not count in. */
const NEVER_MS = 2 ** 31 - 1;

/** @param sharesSession whether all calls have one session, as over stdio, where a process has one */
export function openOldChannel(connect: Connect, patience: Patience, sharesSession: boolean) {
  const asking = new Map<string, OldCall>();
  const clients: Promise<OldClient>[] = [];
  let shared: Promise<OldClient> | undefined;
  let lastId = 0;

  /** A session for one call, or the shared one. Each declares its capabilities once, when it begins. */
  function clientFor(capabilities: JsonObject | undefined) {
    const isShared = sharesSession && capabilities === undefined;
    if (isShared && shared) return shared;
    const client = connect(isShared).then((transport) => openClient(transport, capabilities));
    if (isShared) shared = client;
    clients.push(client);
    return client;
  }

  return {
    async send({ method, params: sent, capabilities }: WireRequest): Promise<ServerReply> {
      const { requestState, inputResponses, ...params } = sent;
      let call = asking.get(String(requestState));
      if (requestState !== undefined && !call)
        return { messages: [], ms: 0, failure: 'this question of the session was answered before' };
      const id = ++lastId;
      asking.delete(String(requestState));
      const started = performance.now();
      try {
        if (call) call.answer(Object.values(asObject(inputResponses))[0]);
        else call = (await clientFor(capabilities)).begin(method, params);
      } catch (error) {
        const failure = `no session could be opened: ${(error as Error).message}`;
        return { messages: [], ms: performance.now() - started, failure };
      }
      const reply = await call.next(id, patience);
      if (reply.result?.resultType === 'input_required') asking.set(String(id), call);
      return reply;
    },
    async close() {
      const opened = await Promise.allSettled(clients);
      await Promise.allSettled(opened.map((one) => one.status === 'fulfilled' && one.value.close()));
    },
  };
}

export type OldChannel = ReturnType<typeof openOldChannel>;
type OldClient = Awaited<ReturnType<typeof openClient>>;
type OldCall = ReturnType<typeof startCall>;

async function openClient(transport: Transport, capabilities = ALL_CAPABILITIES) {
  const client = new Client({ name: 'mrtr-check', version: '0.0.0' }, { capabilities });
  /** The call that waits for the server. A question belongs to it: none of the others may ask before its answer. */
  let waiting: OldCall | undefined;
  // The method of `Client` would reject the wrong answers that checks send.
  const handle: typeof client.setRequestHandler = Protocol.prototype.setRequestHandler.bind(client);
  if (capabilities.elicitation)
    handle(ElicitRequestSchema, ({ params }) => {
      if (!waiting) throw new Error('No call waits for this question.');
      return waiting.ask(params as JsonObject);
    });
  if (capabilities.sampling)
    handle(CreateMessageRequestSchema, () => ({
      ...{ role: 'assistant', model: 'mrtr-check', content: { type: 'text', text: 'Yes.' } },
    }));
  if (capabilities.roots) handle(ListRootsRequestSchema, () => ({ roots: [] }));
  await client.connect(transport);
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    waiting?.received.push({ text: JSON.stringify(message), value: message });
    onmessage?.(message, extra);
  };
  return {
    begin(method: string, params: JsonObject) {
      const given = new AbortController();
      const options = { timeout: NEVER_MS, signal: given.signal };
      const result = client.request({ method, params }, ResultSchema, options);
      return startCall(result, given, (call) => {
        waiting = call;
      });
    },
    async close() {
      await client.close();
      await transport.close();
    },
  };
}

type Ending = Pick<ServerReply, 'result' | 'error' | 'failure' | 'late'>;

interface Pending {
  readonly params: JsonObject;
  readonly answer: (response: JsonObject) => void;
}

function startCall(result: Promise<object>, cancel: AbortController, wait: (call: OldCall) => void) {
  /** The messages since the last reply. */
  const received: RawMessage[] = [];
  /** In the order in which they came: the first is asked next. */
  const questions: Pending[] = [];
  let asked: Pending | undefined;
  let end: Ending | undefined;
  let deliver = () => {};
  const finish = (how: Ending) => {
    end ??= how;
    deliver();
  };
  const giveUp = (how: Ending) => {
    finish(how);
    cancel.abort();
  };
  result.then(
    (value) => finish({ result: value as JsonObject }),
    (error: Error) => finish(readError(error)),
  );
  const call = {
    received,
    ask: (params: JsonObject) =>
      new Promise<JsonObject>((answer) => {
        questions.push({ params, answer });
        deliver();
      }),
    /** Answers the last question. Without a response it was dismissed. */
    answer: (response: unknown) => asked?.answer(asObject(response ?? { action: 'cancel' })),
    /** The next question, or the end. A call that takes too long is cancelled. */
    async next(id: number, { timeoutMs, over }: Patience): Promise<ServerReply> {
      const started = performance.now();
      wait(call);
      const done = new AbortController();
      const timer = setTimeout(giveUp, timeoutMs, { failure: lateness(timeoutMs), late: true });
      over.addEventListener('abort', () => giveUp({ failure: OVER }), { signal: done.signal });
      await new Promise<void>((resolve) => {
        deliver = () => {
          if (end || questions.length > 0) resolve();
        };
        deliver();
      });
      clearTimeout(timer);
      done.abort();
      asked = end ? undefined : questions.shift();
      const messages = received.splice(0);
      const base = { id, messages, ms: performance.now() - started };
      return { ...base, ...(asked ? { result: asRound(asked.params, id) } : end) };
    },
  };
  return call;
}

/** A question of a session has no key, so the name of its first field stands for one in the options of a run. */
function asRound(params: JsonObject, id: number) {
  const [field = params.mode === 'url' ? 'page' : 'question'] = Object.keys(
    objectAt(params.requestedSchema, 'properties'),
  );
  const inputRequests = { [field]: { method: 'elicitation/create', params, keyless: true } };
  return { resultType: 'input_required', inputRequests, requestState: String(id) };
}

function readError(error: Error): Ending {
  if (!(error instanceof McpError)) return { failure: error.message };
  const { code, data } = error;
  const message = error.message.replace(PREFIX, '');
  return { error: { code, message, ...(data !== undefined && { data }) } };
}
