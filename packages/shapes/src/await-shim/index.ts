/** `@mrtr/shapes/await-shim`: shape B. */
export { type AwaitShimContext, awaitShim } from './await-shim.ts';
