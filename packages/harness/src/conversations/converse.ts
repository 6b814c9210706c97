/** A recorded logical call from a real client to a running server. */
import { errorEnd } from '../clients/round-result.ts';
import type { Transcript } from '../transcript/transcript.ts';
import { type ConversationRequest, openCall, type StartServer } from './conversation.ts';

/**
 * Starts a server, connects a client, makes the call, and closes both. Several conversations may run at once.
 *
 * @returns the transcript. A failed call does not throw: its `end` is an error.
 * @throws the error of `startServer`.
 * @example
 * const { end, events } = await converse(
 *   {
 *     client: 'modern',
 *     call: { method: 'tools/call', params: { name: 'deploy', arguments: { env: 'staging' } } },
 *     user: scriptedUser({ sure: [true] }),
 *   },
 *   () => host('fleet', () => ({ server: () => createMyServer() })),
 * );
 */
export async function converse(request: ConversationRequest, startServer: StartServer): Promise<Transcript> {
  const open = await openCall(request, startServer);
  return open.within(() =>
    open
      .connect()
      .then(({ call }) => call(request.call, request.signal))
      // A failure to connect also ends the call.
      .catch(errorEnd)
      .then(open.transcript)
      .finally(open.close),
  );
}
