/** `@mrtr/shapes/linear`: shape H. */
export { ContinuationStore, type ContinuationStoreOptions } from './linear/continuation-store.ts';
export { type LinearContext, type LinearOptions, linear } from './linear/linear.ts';
