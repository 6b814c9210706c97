/** The application that a client forwards a server's questions to. */
import type {
  ClientCapabilities,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitResult,
  ListRootsResult,
} from '@modelcontextprotocol/client';
import type { ShownQuestion } from './user.ts';

/** The callbacks of a client's application. The client declares the capability of each callback that is present. */
export interface ClientApplication {
  /** Overrides the capabilities of the callbacks. */
  readonly capabilities?: ClientCapabilities | undefined;
  readonly elicit?: ((question: ShownQuestion) => ElicitResult | Promise<ElicitResult>) | undefined;
  readonly createMessage?: Model | undefined;
  readonly listRoots?: (() => ListRootsResult | Promise<ListRootsResult>) | undefined;
}

/** Answers a server's prompt. */
export type Model = (
  params: CreateMessageRequest['params'],
) => CreateMessageResult | Promise<CreateMessageResult>;

/**
 * A model that always says `text`.
 *
 * @example
 * await converse({ …, model: scriptedModel('A summary.') }, deploy);
 */
export const scriptedModel =
  (text: string): Model =>
  () => ({ role: 'assistant', content: { type: 'text', text }, model: 'scripted', stopReason: 'endTurn' });

export const CLIENT_INFO = { name: 'mrtr-harness', version: '0.0.0' };

/** How long a client waits for the server, in milliseconds. Long, because a person may answer in between. */
export const PATIENCE = { timeout: 600_000 };

export const capabilitiesOf = ({ capabilities, ...callbacks }: ClientApplication): ClientCapabilities =>
  capabilities ?? {
    ...(callbacks.elicit && { elicitation: {} }),
    ...(callbacks.createMessage && { sampling: {} }),
    ...(callbacks.listRoots && { roots: {} }),
  };

interface ListingClient {
  getServerCapabilities(): { readonly tools?: object | undefined } | undefined;
  listTools(page?: {
    cursor: string;
  }): Promise<{ tools: { name: string }[]; nextCursor?: string | undefined }>;
}

/** The names of a server's tools, from its first hundred pages. */
export async function namesOfTools(client: ListingClient): Promise<readonly string[]> {
  const names: string[] = [];
  if (!client.getServerCapabilities()?.tools) return names;
  let page: { cursor: string } | undefined;
  for (let pages = 0; pages < 100; pages++) {
    const { tools, nextCursor } = await client.listTools(page);
    names.push(...tools.map(({ name }) => name));
    if (nextCursor === undefined) break;
    page = { cursor: nextCursor };
  }
  return names;
}
