/** `@mrtr/shapes/linear-store`: the parts for building a store of shape H. */
export { duplicateKeyError } from '../kit/definition.ts';
export { callerOf } from '../kit/handler-context.ts';
export { heldBytes } from '../kit/held-bytes.ts';
export { assertJson } from '../kit/json.ts';
export type { HandlerEnd } from '../kit/state.ts';
export { FrameContext } from './context.ts';
export { Frame, type FrameTurn, type Perform } from './frame.ts';
export * from './messages.ts';
export { continuationState, type LinearRound, type LinearStore, type RoundEnd } from './store.ts';
