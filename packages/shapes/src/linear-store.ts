/** `@mrtr/shapes/linear-store`: the parts for building a store of shape H, in addition to `@mrtr/shapes/linear`. */
export { FrameContext } from './linear/context.ts';
export { Frame } from './linear/frame.ts';
export { continuationState } from './linear/store.ts';
