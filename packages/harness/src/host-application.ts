/** The application around a client, whichever client it is: what a server may ask of it, and a record of that. */
import type {
  ClientCapabilities,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitResult,
  InputRequest,
  InputResponse,
  ListRootsResult,
} from '@mrtr/core';
import type { ConversationRequest } from './conversation.ts';
import type { Recorder } from './recorder.ts';
import { type Reply, shownQuestion } from './user.ts';

/** What a client forwards to its application. */
export class HostApplication {
  /** What the client declares: exactly what can be answered here. */
  readonly capabilities: ClientCapabilities;
  /** Whether an answer may be left out, which takes a client that makes the rounds by hand. */
  readonly maySayNothing: boolean;
  readonly #request: ConversationRequest;
  readonly #recorder: Recorder;
  readonly #onAsked: () => unknown;

  /** @param onAsked called, and awaited, before each answer, while the server waits for it. */
  constructor(request: ConversationRequest, recorder: Recorder, onAsked: () => unknown) {
    const { client, user, model, roots } = request;
    this.capabilities = {
      ...(client !== 'mute' && { elicitation: {} }),
      ...(model && { sampling: {} }),
      ...(roots && { roots: {} }),
    };
    this.maySayNothing = user.maySayNothing ?? false;
    this.#request = request;
    this.#recorder = recorder;
    this.#onAsked = onAsked;
  }

  /** Shows a question to the user. A client has to answer something, so silence is an answer with nothing in it. */
  async elicit(request: unknown): Promise<ElicitResult> {
    const reply = await this.#reply(request as InputRequest);
    return reply === 'silence' ? { action: 'accept' } : reply;
  }

  /** Has the model say something. */
  async createMessage(params: CreateMessageRequest['params']): Promise<CreateMessageResult> {
    const { model } = this.#request;
    if (!model) throw new Error('The client has no model.');
    await this.#onAsked();
    const result = await model(params);
    this.#recorder.record({ kind: 'model', params, result });
    return result;
  }

  /** Lists the roots. */
  async listRoots(): Promise<ListRootsResult> {
    await this.#onAsked();
    const roots = [...(this.#request.roots ?? [])];
    this.#recorder.record({ kind: 'roots', roots });
    return { roots };
  }

  /** Answers any of these, for a client that makes the rounds by hand: undefined where the user says nothing. */
  async answer(request: InputRequest): Promise<InputResponse | undefined> {
    if (request.method === 'sampling/createMessage') return this.createMessage(request.params);
    if (request.method === 'roots/list') return this.listRoots();
    const reply = await this.#reply(request);
    return reply === 'silence' ? undefined : reply;
  }

  async #reply(request: InputRequest): Promise<Reply> {
    const question = shownQuestion(request);
    if (!question) throw new Error(`Expected a question for the user, got ${JSON.stringify(request)}.`);
    await this.#onAsked();
    const reply = await this.#request.user(question);
    this.#recorder.record({ kind: 'user', question, reply });
    return reply;
  }
}
