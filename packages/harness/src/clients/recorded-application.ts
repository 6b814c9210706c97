/** The application of a client: its person, model and roots, with their actions recorded. */
import type {
  ClientCapabilities,
  ElicitResult,
  InputRequest,
  InputResponse,
  ListRootsResult,
} from '@modelcontextprotocol/client';
import { rejectGoneOptions } from '../gone-options.ts';
import type { Hosting } from '../hosts/endpoint.ts';
import { Recorder } from '../recording/recorder.ts';
import type { Reply } from '../transcript/call.ts';
import { type End, PERSON } from '../transcript/transcript.ts';
import type { ClientApplication, Model } from './client-application.ts';
import { RoundResult } from './round-result.ts';
import { replyOf, type ShownQuestion } from './user.ts';

/** Answers a server's requests from a {@link ClientApplication}, and records each question and answer. */
export class RecordedApplication {
  readonly capabilities: ClientCapabilities;
  readonly #application: ClientApplication;
  readonly recorder: Recorder;
  readonly #framesHeld: Hosting['framesHeld'];
  #questions = 0;
  /** The first end of the call. */
  end: End | undefined;

  /** Without a conversation, nothing is recorded. */
  constructor(
    application: ClientApplication,
    recorder = new Recorder(),
    framesHeld: Hosting['framesHeld'] = () => 0,
  ) {
    rejectGoneOptions(application);
    const { capabilities, user, model, roots } = application;
    this.capabilities = capabilities ?? {
      ...(user && { elicitation: user.open ? { form: {}, url: {} } : {} }),
      ...(model && { sampling: {} }),
      ...(roots && { roots: {} }),
    };
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
    // The SDK's clients must answer, so silence becomes an acceptance without content.
    return reply === 'silence' ? { action: 'accept' } : reply;
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
