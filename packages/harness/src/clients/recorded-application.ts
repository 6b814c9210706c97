/** The application of a client: its person, model and roots, with their actions recorded. */
import type {
  ClientCapabilities,
  CreateMessageRequest,
  CreateMessageResult,
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
import type { ClientApplication } from './client-application.ts';
import { RoundResult } from './round-result.ts';
import { replyOf, type ShownQuestion } from './user.ts';

/** Named, so that a declaration does not spell out the types of an SDK, which change. */
export interface RecordedApplication {
  readonly capabilities: ClientCapabilities;
  readonly recorder: Recorder;
  /** What it can answer. A client may declare more, as some do. */
  readonly has: { readonly user: boolean; readonly model: boolean; readonly roots: boolean };
  /** The first end of the call. */
  readonly end: End | undefined;
  show(question: ShownQuestion): Promise<number>;
  recordReply(id: number, reply: Reply): void;
  elicit(question: ShownQuestion): Promise<ElicitResult>;
  createMessage(params: CreateMessageRequest['params']): Promise<CreateMessageResult>;
  listRoots(): Promise<ListRootsResult>;
  fulfil(request: Exclude<InputRequest, { method: 'elicitation/create' }>): Promise<InputResponse>;
  endWith(end: End): RoundResult;
}

/** Answers a server's requests from `application`. In a conversation, each question and answer is recorded. */
export function recordedApplication(
  application: ClientApplication,
  recorder = new Recorder(),
  framesHeld: Hosting['framesHeld'] = () => 0,
): RecordedApplication {
  rejectGoneOptions(application);
  const { user, model, roots } = application;
  const capabilities: ClientCapabilities = application.capabilities ?? {
    ...(user && { elicitation: user.open ? { form: {}, url: {} } : {} }),
    ...(model && { sampling: {} }),
    ...(roots && { roots: {} }),
  };
  let questions = 0;
  let firstEnd: End | undefined;

  /** Records a question to the person. Returns its id in the transcript. */
  async function show({ message, requestedSchema, url, key }: ShownQuestion) {
    const id = ++questions;
    recorder.record({
      kind: 'question',
      ...{ to: PERSON, id, message, schema: requestedSchema },
      ...(url !== undefined && { url }),
      ...(key !== undefined && { key }),
      framesHeld: await framesHeld(),
    });
    return id;
  }

  const recordReply = (id: number, reply: Reply) =>
    recorder.record({ kind: 'answer', from: PERSON, id, reply });

  async function elicit(question: ShownQuestion): Promise<ElicitResult> {
    if (!user) throw new Error('The client has no user.');
    const id = await show(question);
    const reply = await replyOf(user, question);
    recordReply(id, reply);
    // The SDK's clients must answer, so silence becomes an acceptance without content.
    return reply === 'silence' ? { action: 'accept' } : reply;
  }

  async function createMessage(params: CreateMessageRequest['params']) {
    if (!model) throw new Error('The client has no model.');
    const held = await framesHeld();
    const result = await model(params);
    recorder.record({ kind: 'model', params, result, framesHeld: held });
    return result;
  }

  async function listRoots(): Promise<ListRootsResult> {
    const result = { roots: [...(roots ?? [])] };
    recorder.record({ kind: 'roots', ...result, framesHeld: await framesHeld() });
    return result;
  }

  return {
    has: { user: user !== undefined, model: model !== undefined, roots: roots !== undefined },
    ...{ capabilities, recorder, show, recordReply, elicit, createMessage, listRoots },

    fulfil: (request: Exclude<InputRequest, { method: 'elicitation/create' }>): Promise<InputResponse> =>
      request.method === 'roots/list' ? listRoots() : createMessage(request.params),

    get end() {
      return firstEnd;
    },

    endWith(end: End) {
      firstEnd ??= end;
      return RoundResult.last(end);
    },
  };
}
