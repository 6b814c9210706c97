/** `@mrtr/pages`: pages that a user opens in a browser, while a call waits for them. */
export type { CameBack, PageOptions, Started } from './page.ts';
export {
  type PendingInteractions,
  type PendingInteractionsOptions,
  pendingInteractions,
} from './pending-interactions.ts';
export { InteractionUnfinished, type LinkOptions, type WaitingContext } from './question.ts';
export {
  type InteractionStore,
  interactionsFull,
  MemoryInteractions,
  type MemoryInteractionsOptions,
  type NewInteraction,
  requireInteractionFits,
} from './store.ts';
