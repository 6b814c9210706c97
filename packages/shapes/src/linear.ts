/** `@mrtr/shapes/linear`: shape H. */
export type { LinearContext } from './linear/context.ts';
export { ContinuationStore, type ContinuationStoreOptions } from './linear/continuation-store.ts';
export { type LinearOptions, linear } from './linear/linear.ts';
export type { LinearRound, LinearStore, Turn } from './linear/store.ts';
