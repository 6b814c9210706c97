/** `@mrtr/pages`: pages that a user opens in a browser, while a call waits for them. */

export * from './approval-page.ts';
export { MemoryInteractions } from './memory-interactions.ts';
export type { CallbackVisit, StartVisit } from './page.ts';
export { InteractionUnfinished } from './page-questions.ts';
export {
  type PendingInteractions,
  type PendingInteractionsOptions,
  pendingInteractions,
} from './pending-interactions.ts';
export { StoreUnreachable } from './records.ts';
export { isSameOrigin } from './same-origin.ts';
export { signReceipt, verifyReceipt } from './signed-receipt.ts';
