/** The client's model: what answers `sampling/createMessage`. */
import type { CreateMessageRequest, CreateMessageResult } from '@mrtr/core';

/** Answers what a server would like to have said. */
export type Model = (
  params: CreateMessageRequest['params'],
) => CreateMessageResult | Promise<CreateMessageResult>;

/** A model that always says `text`: what is measured is how it is asked. */
export const scriptedModel =
  (text: string): Model =>
  () => ({ role: 'assistant', content: { type: 'text', text }, model: 'scripted', stopReason: 'endTurn' });
