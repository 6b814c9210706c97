/** One logical call, from a real client to a running server, recorded from its first message to its end. */
import { errorEnd } from '../clients/round.ts';
import type { Transcript } from '../transcript/transcript.ts';
import { type ConversationRequest, type Deploy, OpenCall } from './conversation.ts';

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
 *     user: scriptedUser({ sure: [true] }),
 *   },
 *   () => host('fleet', () => ({ server: () => createMyServer() })),
 * );
 */
export async function converse(request: ConversationRequest, deploy: Deploy): Promise<Transcript> {
  const open = await OpenCall.start(request, deploy);
  return open.within(async () => {
    try {
      // A client that cannot connect ends the call, too.
      const connecting = open.connect();
      return await open.transcript(await connecting.then(({ call }) => call(request.call)).catch(errorEnd));
    } finally {
      await open.close();
    }
  });
}
