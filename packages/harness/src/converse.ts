/** One logical call, from a real client to a running server, recorded. */
import { type CallResult, type ClientKind, eraOf, type LogicalCall } from './call.ts';
import { CLIENT_INFO } from './clients/client-application.ts';
import { legacyClient, modernClient } from './clients/connect.ts';
import { type Answering, RecordedApplication } from './clients/recorded-application.ts';
import type { Hosting } from './endpoint.ts';
import { Recorder, type RecorderOptions } from './recorder.ts';
import { CLIENT, type End, type Participant, PERSON, type Transcript } from './transcript/transcript.ts';

/** A call, and who makes it. */
export interface ConversationRequest extends Answering, RecorderOptions {
  readonly client: ClientKind;
  readonly call: LogicalCall;
  /** The transcript's title. Default: the method and the name. */
  readonly title?: string | undefined;
  /** Further participants, such as a world or a store. */
  readonly participants?: readonly Participant[] | undefined;
}

/** Starts the server of one conversation. */
export type Deploy<Of extends Hosting = Hosting> = (recorder: Recorder) => Of | Promise<Of>;

/**
 * Starts a server, connects a client, makes the call, and closes both. Several conversations may run at once.
 *
 * @returns the transcript. A call that fails is one whose `end` is an error: nothing is thrown for it.
 * @throws the error that `deploy` throws.
 * @example
 * const { end, events } = await converse(
 *   {
 *     client: 'modern',
 *     call: { method: 'tools/call', params: { name: 'deploy', arguments: { env: 'staging' } } },
 *     user: scripted({ sure: [true] }),
 *   },
 *   () => host('fleet', () => ({ server: () => createMyServer() })),
 * );
 */
export function converse(request: ConversationRequest, deploy: Deploy): Promise<Transcript> {
  const recorder = new Recorder(request);
  return recorder.run(async () => {
    const hosting = await deploy(recorder);
    const application = new RecordedApplication(request, recorder, hosting.framesHeld);
    let close = async () => {};
    try {
      const end = await ended(async () => {
        const client = await connect(request.client, application, hosting, recorder);
        close = client.close;
        recorder.start(hosting.instances);
        return client.call(request.call);
      });
      // Events of instances in other processes may still be on their way.
      await hosting.framesHeld();
      recorder.stop();
      const title = request.title ?? titleOf(request.call);
      const participants = participantsOf(request, hosting);
      return { format: 'mrtr-transcript', version: 1, title, participants, events: recorder.events, end };
    } finally {
      await close();
      await hosting.close();
    }
  });
}

interface Connected {
  call(call: LogicalCall): Promise<CallResult>;
  close(): Promise<void>;
}

// The SDKs load when they are needed, and only then.
async function connect(
  kind: ClientKind,
  application: RecordedApplication,
  hosting: Hosting,
  recorder: Recorder,
): Promise<Connected> {
  const endpoint = hosting.endpoint(eraOf(kind));
  if (kind === 'legacy') {
    const { makeCall, transportTo } = await import('./clients/legacy.ts');
    const client = await legacyClient(recorder.watch(await transportTo(endpoint)), application);
    return { call: (call) => makeCall(client, call), close: () => client.close() };
  }
  const { makeCall, transportTo } = await import('./clients/modern.ts');
  const options = { fallback: kind === 'modern' };
  const client = await modernClient(recorder.watch(transportTo(endpoint)), application, options);
  return { call: (call) => makeCall(client, call, application), close: () => client.close() };
}

async function ended(call: () => Promise<CallResult>): Promise<End> {
  try {
    return { result: await call() };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const { code } = error as { readonly code?: unknown };
    return { error: { message, ...(typeof code === 'number' && { code }) } };
  }
}

const titleOf = ({ method, params }: LogicalCall): string =>
  `${method} ${'uri' in params ? params.uri : params.name}`;

function participantsOf(
  { client, user, participants = [] }: ConversationRequest,
  { instances }: Hosting,
): readonly Participant[] {
  const era = eraOf(client);
  return [
    ...(user ? [{ id: PERSON, kind: 'person', label: 'user' } as const] : []),
    { id: CLIENT, kind: 'client', label: `${client} client`, era, name: CLIENT_INFO.name },
    ...instances.map((id, at) => {
      const label = instances.length === 1 ? 'server' : `server ${at + 1}`;
      return { id, kind: 'instance', label } as const;
    }),
    ...participants,
  ];
}
