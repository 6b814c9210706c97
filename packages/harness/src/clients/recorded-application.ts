/** The application of a conversation's client: its person, model and roots, with their actions recorded. */
import type {
  ClientCapabilities,
  ElicitResult,
  InputRequest,
  InputResponse,
  ListRootsResult,
} from '@modelcontextprotocol/client';
import type { Hosting } from '../hosts/endpoint.ts';
import type { Recorder } from '../recording/recorder.ts';
import type { Reply } from '../transcript/call.ts';
import { type End, PERSON } from '../transcript/transcript.ts';
import {
  type ClientApplication,
  type ClientHandlers,
  capabilitiesOf,
  type Model,
  resultOf,
} from './client-application.ts';
import { RoundResult } from './round-result.ts';
import { replyOf, type ShownQuestion } from './user.ts';

/** Answers from a {@link ClientApplication}, and records each question and answer. */
export class RecordedApplication implements ClientHandlers {
  readonly capabilities: ClientCapabilities;
  readonly #application: ClientApplication;
  readonly recorder: Recorder;
  readonly #framesHeld: Hosting['framesHeld'];
  #questions = 0;
  /** The first end of the call. */
  end: End | undefined;

  constructor(application: ClientApplication, recorder: Recorder, framesHeld: Hosting['framesHeld']) {
    this.capabilities = capabilitiesOf(application);
    this.#application = application;
    this.recorder = recorder;
    this.#framesHeld = framesHeld;
  }

  readonly elicit = async (question: ShownQuestion): Promise<ElicitResult> => {
    const { user } = this.#application;
    if (!user) throw new Error('The client has no user.');
    const id = await this.show(question);
    const reply = await replyOf(user, question);
    this.recordReply(id, reply);
    return resultOf(reply);
  };

  readonly createMessage: Model = async (params) => {
    const { model } = this.#application;
    if (!model) throw new Error('The client has no model.');
    const framesHeld = await this.#framesHeld();
    const result = await model(params);
    this.recorder.record({ kind: 'model', params, result, framesHeld });
    return result;
  };

  readonly listRoots = async (): Promise<ListRootsResult> => {
    const framesHeld = await this.#framesHeld();
    const roots = [...(this.#application.roots ?? [])];
    this.recorder.record({ kind: 'roots', roots, framesHeld });
    return { roots };
  };

  async fulfil(request: Exclude<InputRequest, { method: 'elicitation/create' }>): Promise<InputResponse> {
    return request.method === 'roots/list' ? this.listRoots() : this.createMessage(request.params);
  }

  /** Records a question to the person. Returns its id in the transcript. */
  async show({ message, requestedSchema, url, key }: ShownQuestion): Promise<number> {
    const id = ++this.#questions;
    const framesHeld = await this.#framesHeld();
    this.recorder.record({
      kind: 'question',
      to: PERSON,
      id,
      message,
      schema: requestedSchema,
      ...(url !== undefined && { url }),
      ...(key !== undefined && { key }),
      framesHeld,
    });
    return id;
  }

  endWith(end: End): RoundResult {
    this.end ??= end;
    return RoundResult.last(end);
  }

  recordReply(id: number, reply: Reply): void {
    this.recorder.record({ kind: 'answer', from: PERSON, id, reply });
  }
}
