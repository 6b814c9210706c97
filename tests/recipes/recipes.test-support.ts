/** A call of the recipes' tool. */
import { type ClientKind, Conversation, foreignHosting, type Hosting, type LogicalCall } from '@mrtr/harness';
import { resultText } from '@mrtr/harness/transcript';

export const DEPLOY = {
  method: 'tools/call',
  params: { name: 'deploy', arguments: { env: 'staging' } },
} as const satisfies LogicalCall;

/** Makes the call, and says yes, or four stars. Returns the result's text. */
export async function called(
  hosting: Hosting,
  request: { readonly client?: ClientKind; readonly call?: LogicalCall } = {},
): Promise<string> {
  const conversation = await Conversation.start(
    { client: 'modern', call: DEPLOY, ...request },
    () => hosting,
  );
  const done = await conversation.first.answer({ sure: true, stars: 4 });
  await conversation.close();
  return resultText(done.end?.result ?? {});
}

export const listeningAt = (url: URL): Hosting => foreignHosting({ kind: 'http', url });
