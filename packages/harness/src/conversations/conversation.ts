/** A recorded logical call from a real client to a running server, round by round. */

import { CLIENT_INFO, type ClientApplication } from '../clients/client-application.ts';
import { type Connected, ManualUser } from '../clients/manual-user.ts';
import { recordedApplication } from '../clients/recorded-application.ts';
import type { RoundResult, SendOptions } from '../clients/round-result.ts';
import { rejectGoneOptions } from '../gone-options.ts';
import { asCaller } from '../hosts/caller.ts';
import type { Hosting } from '../hosts/endpoint.ts';
import { Recorder, type RecorderOptions } from '../recording/recorder.ts';
import { type ClientKind, type Era, eraOf, type LogicalCall } from '../transcript/call.ts';
import { CLIENT, type End, type Participant, PERSON, type Transcript } from '../transcript/transcript.ts';

/** A call and its client, and how its first request is sent. */
export interface ConversationRequest extends ClientApplication, SendOptions, RecorderOptions {
  readonly client: ClientKind;
  readonly call: LogicalCall;
  /** Called after the client has connected, before its call. Its error ends the call. */
  readonly onConnect?: ((client: { toolNames(): Promise<readonly string[]> }) => unknown) | undefined;
}

/** Starts the server of one conversation. */
export type StartServer<Of extends Hosting = Hosting> = (recorder: Recorder) => Of | Promise<Of>;

/** A call whose user is the test, which may do anything between its rounds. */
export class Conversation<Of extends Hosting = Hosting> {
  /** The server. Those of `host` can replace their instances between two rounds. */
  readonly hosting: Of;
  /** The round of the first request. */
  readonly first: RoundResult;
  readonly #open: OpenCall<Of>;
  #closed: Promise<Transcript> | undefined;

  private constructor(open: OpenCall<Of>, first: RoundResult) {
    this.hosting = open.hosting;
    this.first = first;
    this.#open = open;
  }

  /**
   * Starts a server, connects a client that can show forms, and makes the first request. `model` and `roots` answer by
   * themselves.
   *
   * @throws the error of `startServer` and of connecting. If the server's factory threw, its error is among the causes.
   * @example
   * const call = { method: 'tools/call', params: { name: 'deploy', arguments: { env: 'staging' } } } as const;
   * const conversation = await Conversation.start({ client: 'modern', call }, () =>
   *   host('memory', () => ({ server: () => createMyServer() })),
   * );
   * await conversation.hosting.restart();
   * const done = await conversation.first.answer({ sure: true });
   * const transcript = await conversation.close();
   */
  static async start<Of extends Hosting>(
    request: Omit<ConversationRequest, 'user'>,
    startServer: StartServer<Of>,
  ): Promise<Conversation<Of>> {
    const manualUser = new ManualUser();
    const open = await openCall({ ...request, user: manualUser.user }, startServer);
    try {
      const first = await open.within(async () =>
        (await open.connect()).firstRound(request.call, manualUser, request.signal),
      );
      return new Conversation(open, first);
    } catch (error) {
      await open.close();
      throw error;
    }
  }

  /**
   * Closes the client and the server, once. Returns the transcript. Its `end` is the call's first end: a retry that is sent
   * again later does not change it.
   */
  close(): Promise<Transcript> {
    const { application, transcript, close } = this.#open;
    this.#closed ??= transcript(application.end ?? CLOSED).finally(close);
    return this.#closed;
  }
}

const CLOSED: End = { error: { message: 'The conversation was closed before the call ended.' } };

/** A server of one call, its client, and their record. */
type OpenCall<Of extends Hosting> = Awaited<ReturnType<typeof openCall<Of>>>;

export async function openCall<Of extends Hosting>(
  request: ConversationRequest,
  startServer: StartServer<Of>,
) {
  rejectGoneOptions(request);
  const recorder = new Recorder(request);
  const unobserve = recorder.observe();
  const hosting = await recorder
    .within(async () => startServer(recorder))
    .catch((error: unknown) => {
      unobserve();
      throw error;
    });
  const application = recordedApplication(request, recorder, hosting.framesHeld);
  const { client: kind, user, caller } = request;
  let client: Connected | undefined;
  return {
    hosting,
    application,

    /** Runs `work` as the caller, and records its events. */
    within: <T>(work: () => T) => recorder.within(() => asCaller(caller, work)),

    /** Connects the client, and then begins to record. */
    async connect() {
      const endpoint = hosting.endpoint(eraOf(kind));
      if (caller && endpoint.kind === 'stdio')
        throw new Error(
          'A program on stdio knows no caller: it serves the user who starts it. Remove `caller`.',
        );
      // Load an SDK only when it is needed.
      client = await (kind === 'legacy'
        ? (await import('../clients/legacy.ts')).connectTo(endpoint, application)
        : (await import('../clients/modern.ts')).connectTo(endpoint, application, user, kind === 'modern'));
      await request.onConnect?.(client);
      recorder.start(() => hosting.instances);
      return client;
    },

    async transcript(end: End): Promise<Transcript> {
      // Events of instances in other processes may still be on their way.
      await hosting.framesHeld();
      recorder.stop();
      const title = titleOf(request.call);
      const participants = participantsOf(request, client?.era ?? eraOf(kind), hosting.instances);
      return { format: 'mrtr-transcript', version: 1, title, participants, events: recorder.events, end };
    },

    async close() {
      try {
        await client?.close();
        await hosting.close();
      } finally {
        unobserve();
      }
    },
  };
}

const titleOf = ({ method, params }: LogicalCall) =>
  `${method} ${'uri' in params ? params.uri : params.name}`;

/** The participants of a conversation with these instances. */
export function participantsOf(
  { client, user }: Pick<ConversationRequest, 'client' | 'user'>,
  era: Era,
  instances: readonly string[],
): readonly Participant[] {
  const person = user?.isAgent ? ({ label: 'agent', isAgent: true } as const) : { label: 'user' };
  return [
    ...(user ? [{ id: PERSON, kind: 'person', ...person } as const] : []),
    { id: CLIENT, kind: 'client', label: `${client} client`, era, name: CLIENT_INFO.name },
    ...instances.map((id, at) => {
      const label = instances.length === 1 ? 'server' : `server ${at + 1}`;
      return { id, kind: 'instance', label } as const;
    }),
  ];
}
