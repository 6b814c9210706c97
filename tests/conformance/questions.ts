/** The fixture without the protocol: the tools' questions and results. The suite fixes both. */
import type { CreateMessageResult, GetPromptResult, ListRootsResult } from '@modelcontextprotocol/server';
import {
  type CallToolResult,
  elicitation,
  type InputKind,
  listRoots,
  type Questions,
  sampling,
  textResult,
} from '@mrtr/core';
import { z } from 'zod';

const Name = z.object({ name: z.string() });
type Name = z.output<typeof Name>;

const fromUser = (text: string, maxTokens: number) =>
  sampling({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens });

export const userName = elicitation('What is your name?', Name);
export const confirm = elicitation('Please confirm', z.object({ ok: z.boolean() }));
export const step1 = elicitation('Step 1: What is your name?', Name);
export const step2 = elicitation('Step 2: What is your favorite color?', z.object({ color: z.string() }));
export const userContext = elicitation(
  'What context should the prompt use?',
  z.object({ context: z.string() }),
);
export const capitalQuestion = fromUser('What is the capital of France?', 100);
export const greeting = fromUser('Generate a greeting', 50);
export const clientRoots = listRoots();

/** The questions that the client can be asked: a server must not send it the others. */
export const askable = (canAsk: (kind: InputKind) => boolean): Questions =>
  Object.fromEntries(
    Object.entries({ user_name: userName, capital_question: capitalQuestion }).filter(([, { kind }]) =>
      canAsk(kind),
    ),
  );

export const hello = ({ name }: Name): CallToolResult => textResult(`Hello, ${name}!`);

export const saidByModel = (result: CreateMessageResult): CallToolResult => textResult(textOf(result));

export const rootsFound = ({ roots }: ListRootsResult): CallToolResult =>
  textResult(`Roots: ${roots.map(({ uri }) => uri).join(', ')}`);

/** The result after an answer to a question that was asked, as the state shows. */
export const stateOk = ({ ok }: { ok: boolean }): CallToolResult => textResult(`state-ok, confirmed: ${ok}`);

export const introduced = (
  { name }: Name,
  greeted: CreateMessageResult,
  { roots }: ListRootsResult,
): CallToolResult => textResult(`${textOf(greeted)} ${name}, with ${roots.length} root(s).`);

export const liking = ({ name }: Name, { color }: { color: string }): CallToolResult =>
  textResult(`${name} likes ${color}.`);

export const allAnswered = (keys: readonly string[]): CallToolResult =>
  textResult(`Answered: ${keys.join(', ') || 'nothing, for this client cannot be asked'}.`);

export const promptIn = ({ context }: { context: string }): GetPromptResult => ({
  messages: [{ role: 'user', content: { type: 'text', text: `Answer in this context: ${context}` } }],
});

const textOf = ({ content }: CreateMessageResult): string =>
  content.type === 'text' ? content.text : `(${content.type})`;
