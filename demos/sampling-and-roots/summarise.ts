/** The tool without the protocol: its definition, its text, and its question to the model. */
import type {
  CreateMessageRequest,
  CreateMessageResult,
  ListRootsResult,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

export const summarise = {
  description: 'Says in a few words what the open project is about.',
  inputSchema: z.object({ words: z.number().int().positive() }),
};

/** Both are deprecated since 2026-07-28 and most clients have neither, so the error names what the tool needs. */
export const NEEDS = 'Summarising needs a client with a model (sampling) and an open project (roots).';

/** One of the client's folders. */
export type Root = ListRootsResult['roots'][number];

/**
 * Stands for the real work: reading `README.md` in the root, on the client's machine. On another machine, a server
 * would open its own files, under names that a client chose.
 */
export const readmeOf = async ({ uri }: Root) =>
  `# ${uri.split('/').at(-1)}\n\nOrders, stock and invoices of a shop for second-hand bicycles.`;

/** The question to the model. */
export const prompt = (readme: string, words: number): CreateMessageRequest['params'] => ({
  messages: [
    { role: 'user', content: { type: 'text', text: `Summarise in at most ${words} words:\n\n${readme}` } },
  ],
  maxTokens: 200,
});

/** The model's answer. */
export const textOf = ({ content }: CreateMessageResult) =>
  content.type === 'text' ? content.text : `(${content.type})`;
