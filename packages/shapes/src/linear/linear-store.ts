/** `@mrtr/shapes/linear-store`: the parts for building a store of shape H, in addition to `@mrtr/shapes/linear`. */
export { FrameContext } from './context.ts';
export { Frame } from './frame.ts';
export { continuationState } from './store.ts';
