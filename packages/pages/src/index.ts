/** `@mrtr/pages`: pages that a user opens in a browser, while a call waits for them. */

export { MemoryInteractions, type MemoryInteractionsOptions } from './memory-interactions.ts';
export type { CallbackVisit, Identified, PageOptions, StartVisit, Visitor } from './page.ts';
export {
  type PendingInteractions,
  type PendingInteractionsOptions,
  pendingInteractions,
} from './pending-interactions.ts';
export { InteractionUnfinished, type LinkOptions, type WaitingContext } from './question.ts';
export { isSameOrigin } from './same-origin.ts';
