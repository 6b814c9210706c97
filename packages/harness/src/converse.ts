/** Runs one conversation. */
import { randomBytes } from 'node:crypto';
import { type CallToolResult, requestStatePolicy } from '@mrtr/core';
import { createWorld } from '@mrtr/domain';
import { connect } from './client.ts';
import type { Conversation, ConversationRequest } from './conversation.ts';
import { type Hosting, host } from './hosting.ts';
import { Recorder } from './recorder.ts';
import type { Reply, ShownQuestion, User } from './user.ts';

/**
 * Starts a deployment of the subject, connects a client, makes the call, and takes everything down again. Each
 * conversation has a world and a key of its own. Several may run at once.
 */
export function converse(request: ConversationRequest): Promise<Conversation> {
  const recorder = new Recorder(request.onEvent);
  return recorder.run(async () => {
    const world = createWorld({
      onAudit: (entry) => recorder.record({ kind: 'audit', entry }),
      onWrite: (item) => recorder.record({ kind: 'write', item }),
    });
    const state = requestStatePolicy({ keys: [randomBytes(32)], legacy: request.legacy });
    const hosting = host(request.hosting, () => request.subject.create({ world, state }));
    const watched = watchUser(request.user, recorder, hosting);
    const endpoint = hosting.endpoint(request.client === 'legacy' ? 'legacy' : 'modern');
    const client = await connect({ ...request, user: watched.user }, endpoint, recorder);
    try {
      recorder.start();
      const ending = await ended(client.callTool(request.call));
      return { transcript: recorder.events, framesHeld: watched.mostFrames(), ...ending };
    } finally {
      await client.close();
      await hosting.close();
    }
  });
}

/** Records what the user sees and does, and looks at the servers' memory while the user thinks. */
function watchUser(user: User, recorder: Recorder, hosting: Hosting) {
  let most = 0;
  const watched = async (question: ShownQuestion): Promise<Reply> => {
    most = Math.max(most, hosting.framesHeld());
    const reply = await user(question);
    recorder.record({ kind: 'user', question, reply });
    return reply;
  };
  return {
    user: Object.assign(watched, { maySayNothing: user.maySayNothing ?? false }),
    mostFrames: () => most,
  };
}

async function ended(call: Promise<CallToolResult>): Promise<Pick<Conversation, 'result' | 'error'>> {
  try {
    return { result: await call, error: undefined };
  } catch (error) {
    return { result: undefined, error: error instanceof Error ? error.message : String(error) };
  }
}
