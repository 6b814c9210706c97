/** `@mrtr/comparison/calls`: makes a call of an option or a demo, with a scripted user, and records it. */
import { randomBytes } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/server';
import {
  MemoryLedger,
  type RequestStateOptions,
  type RequestStatePolicy,
  requestStatePolicy,
  type McpServer as Server,
} from '@mrtr/core';
import {
  type ClientKind,
  Conversation,
  type ConversationRequest,
  converse,
  type HostedInstance,
  type Hosting,
  host,
  type LocalHostingKind,
} from '@mrtr/harness';
import type { Recorder } from '@mrtr/harness/internal';
import { type Participant, type Transcript, WORLD } from '@mrtr/harness/transcript';
import type { Claims } from './claims.ts';
import type { OptionDeps } from './options.ts';
import { describeItem } from './work-items.ts';
import { createWorld, type World } from './world.ts';

export * from './scripts.ts';

/** What is called: an option, or a demo in its form. */
export interface Subject {
  readonly id: string;
  readonly title: string;
  /** Whether it stands on the SDK alone, so that nothing publishes the entries of its handlers. */
  readonly isBare?: boolean;
  create(deps: OptionDeps): HostedInstance;
}

/** A subject with claims, such as an option. */
export interface Measured extends Subject {
  /** Its name in tables, if that is not its `id` in capitals. */
  readonly name?: string | undefined;
  readonly claims: Claims;
}

/** A client of the harness, or `unaskable`: a modern client that did not declare elicitation. */
export type Client = ClientKind | 'unaskable';

/**
 * Hosting in separate processes. `http`: one process, with a session for each old client. `processes`: three processes
 * that keep nothing, and take turns.
 */
export type ProcessHostingKind = 'http' | 'processes';

export type HostingKind = LocalHostingKind | ProcessHostingKind;

/** A call of a subject, its client and its hosting. */
export interface SubjectCall extends Omit<ConversationRequest, 'client'> {
  readonly subject: Subject;
  readonly client: Client;
  readonly hosting: HostingKind;
  readonly legacy: NonNullable<RequestStateOptions['legacy']>;
}

export const standalone = (
  id: string,
  title: string,
  createServer: (policy: RequestStatePolicy) => Server,
): Subject => ({ id, title, create: ({ policy }) => ({ server: () => createServer(policy) }) });

/** What a hosting gets for its one call. */
export interface HostingContext {
  readonly request: SubjectCall;
  readonly world: World;
  readonly key: Uint8Array;
  readonly recorder: Recorder;
}

/** Starts the subject of a call on the hosting that the call names. */
export type StartHosting<Of extends Hosting = Hosting> = (context: HostingContext) => Of | Promise<Of>;

const startHere: StartHosting = ({ request: { subject, hosting, legacy }, world, key, recorder }) => {
  if (hosting !== 'memory' && hosting !== 'fleet' && hosting !== 'restart') {
    throw new Error(
      `'${hosting}' hosting needs its own processes: start them, and pass their \`startHosting\`.`,
    );
  }
  // The default is one ledger per process. All instances are in this process, so make one per call.
  const policy = requestStatePolicy({ keys: [key], legacy, ledger: new MemoryLedger() });
  const onEntry = () => recorder.recordDiagnostic({ channel: 'mrtr:handler', event: {} });
  return host(hosting, () => startSubject(subject, { world, policy }, { onEntry }));
};

/**
 * Starts a deployment of the subject, connects a client, makes the call, and stops everything. Each call has its own
 * world and key. Several may run at once.
 */
export async function callSubject(request: SubjectCall, startHosting: StartHosting = startHere) {
  const { id, title } = request.subject;
  const transcript = await converse(conversationOf(request), inNewWorld(request, startHosting));
  return withWorld({ ...transcript, title: `${id} · ${title}` });
}

/** Starts a call whose user is the caller of this function. */
export const callSubjectByHand = <Of extends Hosting>(
  request: SubjectCall,
  startHosting: StartHosting<Of>,
): Promise<Conversation<Of>> =>
  Conversation.start(conversationOf(request), inNewWorld(request, startHosting));

const conversationOf = ({ client, user, ...rest }: SubjectCall): ConversationRequest =>
  client === 'unaskable' ? { ...rest, client: 'modern' } : { ...rest, client, user };

const inNewWorld =
  <Of extends Hosting>(request: SubjectCall, startHosting: StartHosting<Of>) =>
  (recorder: Recorder) =>
    startHosting({ request, world: recordedWorld(recorder), key: randomBytes(32), recorder });

export const recordedWorld = (recorder: Recorder): World =>
  createWorld({
    onAudit: (entry) => recorder.record({ kind: 'effect', name: 'audit', detail: entry }),
    onWrite: (item) => recorder.record({ kind: 'effect', name: 'write', detail: describeItem(item) }),
  });

const WORLD_LANE: Participant = { id: WORLD, kind: 'world', label: 'world' };

/** Adds the world, whose effects the transcript has, to its participants. */
export const withWorld = <Of extends Pick<Transcript, 'participants'>>(transcript: Of): Of => ({
  ...transcript,
  participants: [...transcript.participants, WORLD_LANE],
});

/** Called when a server was made, and when a handler is entered. */
export interface EntryListeners {
  readonly onServer?: () => void;
  readonly onEntry: () => void;
}

/** Starts an instance of a subject. It calls `onEntry` on the SDK alone; others publish their entries. */
export function startSubject<Instance extends HostedInstance>(
  { create, isBare }: { create(deps: OptionDeps): Instance; readonly isBare?: boolean },
  deps: OptionDeps,
  listeners: EntryListeners,
) {
  const running = create(deps);
  if (!('server' in running)) return running;
  const { server } = running;
  return {
    ...running,
    server() {
      const made = isBare ? listening(listeners, () => server()) : server();
      listeners.onServer?.();
      return made;
    },
  };
}

type RegisterTool = (this: McpServer, name: string, config: object, handler: Handler) => unknown;
type Handler = (...args: unknown[]) => Promise<unknown>;

/** Makes a server whose handlers call the listeners. The SDK offers no hook, so `registerTool` is another one meanwhile. */
function listening<T>({ onEntry }: EntryListeners, create: () => T) {
  const prototype = McpServer.prototype as unknown as { registerTool: RegisterTool };
  const { registerTool } = prototype;
  prototype.registerTool = function (name, config, handler) {
    return registerTool.call(this, name, config, (...args) => {
      onEntry();
      return handler(...args);
    });
  };
  try {
    return create();
  } finally {
    prototype.registerTool = registerTool;
  }
}
