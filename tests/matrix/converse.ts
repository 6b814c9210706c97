/** Runs one conversation. */
import { randomBytes } from 'node:crypto';
import { type CompleteResult, requestStatePolicy } from '@mrtr/core';
import type { Conversation, ConversationRequest } from '@mrtr/harness';
import { type ConnectedClient, connect, HostApplication, type Hosting, host, Recorder } from '@mrtr/harness';
import { createWorld, type World } from '@mrtr/tools';

/** What a deployment is made for: one conversation, with its world and key, and who is told what happens there. */
export interface Scene {
  readonly request: ConversationRequest;
  readonly world: World;
  readonly key: Uint8Array;
  readonly recorder: Recorder;
}

/** Starts a deployment on the hosting that the request names. */
export type Deploy<Of extends Hosting = Hosting> = (scene: Scene) => Of | Promise<Of>;

/** In this process. */
const deployHere: Deploy = ({ request: { subject, hosting, legacy }, world, key, recorder }) => {
  if (hosting !== 'memory' && hosting !== 'fleet' && hosting !== 'restart') {
    throw new Error(
      `'${hosting}' hosting takes processes of its own: start them, and pass their \`deploy\`.`,
    );
  }
  const state = requestStatePolicy({ keys: [key], legacy });
  const onEntry = () => recorder.handlerEntered();
  return host(hosting, () => subject.create({ world, state, onEntry }));
};

/**
 * Starts a deployment of the subject, connects a client, makes the call, and takes everything down again. Each
 * conversation has a world and a key of its own. Several may run at once.
 */
export function converse(request: ConversationRequest, deploy: Deploy = deployHere): Promise<Conversation> {
  const recorder = new Recorder(request.onEvent);
  return recorder.run(async () => {
    const world = createWorld({
      onAudit: (entry) => recorder.record({ kind: 'audit', entry }),
      onWrite: (item) => recorder.record({ kind: 'write', item }),
    });
    const hosting = await deploy({ request, world, key: randomBytes(32), recorder });
    let framesHeld = 0;
    const application = new HostApplication(request, recorder, async () => {
      framesHeld = Math.max(framesHeld, await hosting.framesHeld());
    });
    const endpoint = hosting.endpoint(request.client === 'legacy' ? 'legacy' : 'modern');
    let client: ConnectedClient | undefined;
    const calling = async () => {
      client = await connect(request.client, application, endpoint, recorder);
      recorder.start();
      return client.call(request.call);
    };
    try {
      const ending = await ended(calling());
      // What instances in other processes have told may still be on its way.
      await hosting.framesHeld();
      recorder.stop();
      return { transcript: recorder.events, framesHeld, ...ending };
    } finally {
      await client?.close();
      await hosting.close();
    }
  });
}

async function ended(call: Promise<CompleteResult>): Promise<Pick<Conversation, 'result' | 'error'>> {
  try {
    return { result: await call, error: undefined };
  } catch (error) {
    return { result: undefined, error: error instanceof Error ? error.message : String(error) };
  }
}
