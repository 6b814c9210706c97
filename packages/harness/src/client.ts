/** A real client, of whichever SDK, ready for the one call of its conversation. */
import type { CallToolResult, ElicitResult, InputRequest } from '@mrtr/core';
import type { ConversationRequest } from './conversation.ts';
import type { Endpoint } from './hosting.ts';
import type { Recorder } from './recorder.ts';
import { type Reply, type ShownQuestion, shownQuestion } from './user.ts';

/** A connected client. */
export interface ConnectedClient {
  callTool(call: ConversationRequest['call']): Promise<CallToolResult>;
  close(): Promise<void>;
}

/** What every client calls itself. */
export const CLIENT_INFO = { name: 'mrtr-shapes-client', version: '0.0.0' };

/** How long a client waits for one answer of the server, in milliseconds: people may be in between. */
export const PATIENCE = { timeout: 600_000 };

/** Connects a client of the kind that `request` names to a server. Loads no SDK that it does not need. */
export async function connect(
  request: ConversationRequest,
  endpoint: Endpoint,
  recorder: Recorder,
): Promise<ConnectedClient> {
  if (request.client === 'legacy') {
    const { connectLegacy } = await import('./legacy-client.ts');
    return connectLegacy(request, endpoint, recorder);
  }
  const { connectModern } = await import('./modern-client.ts');
  return connectModern(request, endpoint, recorder);
}

/** A client has to answer something, where it cannot leave an answer out: an answer with nothing in it. */
export const answered = (reply: Reply): ElicitResult => (reply === 'silence' ? { action: 'accept' } : reply);

/** The question in a request that a server sent. */
export function shown(request: unknown): ShownQuestion {
  const question = shownQuestion(request as InputRequest);
  if (!question) throw new Error(`Expected a question for the user, got ${JSON.stringify(request)}.`);
  return question;
}
