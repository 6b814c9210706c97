/** `@mrtr/pages`: pages that a user opens in a browser, while a call waits for them. */
export type { CameBack, Identified, PageOptions, Started, Visitor } from './page.ts';
export {
  type PendingInteractions,
  type PendingInteractionsOptions,
  pendingInteractions,
} from './pending-interactions.ts';
export { InteractionUnfinished, type LinkOptions, type WaitingContext } from './question.ts';
export { isSameOrigin } from './same-origin.ts';
export {
  type InteractionStore,
  interactionsFull,
  MemoryInteractions,
  type MemoryInteractionsOptions,
  type NewInteraction,
  type Over,
  requireInteractionFits,
} from './store.ts';
