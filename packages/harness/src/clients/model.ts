/** The client's model: answers `sampling/createMessage`. */
import type { CreateMessageRequest, CreateMessageResult } from '@modelcontextprotocol/client';

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
