/** `@mrtr/shapes/linear`: shape H. */
export type { LinearContext } from './context.ts';
export { ContinuationStore, type ContinuationStoreOptions } from './continuation-store.ts';
export { type LinearOptions, linear } from './linear.ts';
export { ContinuationLost } from './messages.ts';
export type { LinearRound, LinearStore, RoundEnd } from './store.ts';
