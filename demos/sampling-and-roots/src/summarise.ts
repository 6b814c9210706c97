/** The tool without the protocol: how it is announced, what it reads, what the model is asked. */
import type { CreateMessageRequest, CreateMessageResult, ListRootsResult } from '@mrtr/core';
import { z } from 'zod';

/** How the tool is announced. */
export const summarise = {
  description: 'Says in a few words what the open project is about.',
  inputSchema: z.object({ words: z.number().int().positive() }),
};

/** Both are deprecated since 2026-07-28 and most clients have neither, so the tool says what it would need. */
export const NEEDS = 'Summarising needs a client with a model (sampling) and an open project (roots).';

/** One of the client's folders. */
export type Root = ListRootsResult['roots'][number];

/**
 * Where the real work would be: on the client's machine, reading `README.md` in the root. Anywhere else there is nothing
 * to read, and a server that tried would open files of its own whose names a client chose.
 */
export const readmeOf = async ({ uri }: Root): Promise<string> =>
  `# ${uri.split('/').at(-1)}\n\nOrders, stock and invoices of a shop for second-hand bicycles.`;

/** What the model is asked. */
export const prompt = (readme: string, words: number): CreateMessageRequest['params'] => ({
  messages: [
    { role: 'user', content: { type: 'text', text: `Summarise in at most ${words} words:\n\n${readme}` } },
  ],
  maxTokens: 200,
});

/** What the model said. */
export const textOf = ({ content }: CreateMessageResult): string =>
  content.type === 'text' ? content.text : `(${content.type})`;
