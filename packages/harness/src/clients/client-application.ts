/** The application at a client: its user, its model and its roots answer the server's questions. */
import type {
  ClientCapabilities,
  CreateMessageRequest,
  CreateMessageResult,
} from '@modelcontextprotocol/client';
import type { Root } from '../transcript/call.ts';
import type { User } from './user.ts';

/** The application at a client. The client declares the capability of each part that is present. */
export interface ClientApplication {
  /** Overrides the capabilities of the parts. */
  readonly capabilities?: ClientCapabilities | undefined;
  readonly user?: User | undefined;
  readonly model?: Model | undefined;
  readonly roots?: readonly Root[] | undefined;
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

/** The options of a request. Its client waits long for the server, because a person may answer in between. */
export const requestOptions = (signal: AbortSignal | undefined) => ({
  timeout: 600_000,
  ...(signal && { signal }),
});

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
