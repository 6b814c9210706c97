/** Makes one call of a subject. */
import { randomBytes } from 'node:crypto';
import { MemoryLedger, requestStatePolicy } from '@mrtr/core';
import {
  type ConversationRequest as CallRequest,
  Conversation,
  type Hosting,
  host,
  converse as inHarness,
  type Recorder,
} from '@mrtr/harness';
import { type Participant, type Transcript, WORLD } from '@mrtr/harness/transcript';
import { type EntryListeners, startSubject } from './start-subject.ts';
import type { ConversationRequest } from './subject.ts';
import { describeItem } from './work-items.ts';
import { createWorld, type World } from './world.ts';

export interface Scene {
  readonly request: ConversationRequest;
  readonly world: World;
  readonly key: Uint8Array;
  readonly recorder: Recorder;
}

/** Starts a deployment on the hosting that the request names. */
export type StartServer<Of extends Hosting = Hosting> = (scene: Scene) => Of | Promise<Of>;

const startHere: StartServer = ({ request: { subject, hosting, legacy }, world, key, recorder }) => {
  if (hosting !== 'memory' && hosting !== 'fleet' && hosting !== 'restart') {
    throw new Error(
      `'${hosting}' hosting needs its own processes: start them, and pass their \`startServer\`.`,
    );
  }
  // The default is one ledger per process. All instances are in this process, so make one per conversation.
  const state = requestStatePolicy({ keys: [key], legacy, ledger: new MemoryLedger() });
  return host(hosting, () => startSubject(subject, { world, state }, listenersFor(recorder)));
};

/** Records the entries of a subject that does not publish them. */
export const listenersFor = (recorder: Recorder): EntryListeners => ({
  onEntry: () => recorder.recordDiagnostic({ channel: 'mrtr:handler', event: {} }),
});

/**
 * Starts a deployment of the subject, connects a client, makes the call, and stops everything. Each conversation has
 * its own world and key. Several may run at once.
 */
export const converse = (
  request: ConversationRequest,
  startServer: StartServer = startHere,
): Promise<Transcript> => inHarness(callOf(request), inNewWorld(request, startServer));

export const converseByHand = <Of extends Hosting>(
  request: ConversationRequest,
  startServer: StartServer<Of>,
): Promise<Conversation<Of>> => Conversation.start(callOf(request), inNewWorld(request, startServer));

function callOf({ client, user, subject, ...rest }: ConversationRequest): CallRequest {
  const answering = client === 'unaskable' ? { client: 'modern' as const } : { client, user };
  const title = `${subject.id} · ${subject.title}`;
  return { title, ...rest, ...answering, participants: [WORLD_LANE] };
}

const inNewWorld =
  <Of extends Hosting>(request: ConversationRequest, startServer: StartServer<Of>) =>
  (recorder: Recorder) =>
    startServer({ request, world: recordedWorld(recorder), key: randomBytes(32), recorder });

export const recordedWorld = (recorder: Recorder): World =>
  createWorld({
    onAudit: (entry) => recorder.record({ kind: 'effect', name: 'audit', detail: entry }),
    onWrite: (item) => recorder.record({ kind: 'effect', name: 'write', detail: describeItem(item) }),
  });

export const WORLD_LANE: Participant = { id: WORLD, kind: 'world', label: 'world' };
