/** `@mrtr/shapes/linear-store`: what a store of shape H is made of. */
export { assertJson } from './json.ts';
export { FrameContext } from './linear/context.ts';
export { Frame, type Outcome, type Pause, type Perform } from './linear/frame.ts';
export { askableKinds, type LinearRound, type LinearStore, overdrawn, type Turn } from './linear/store.ts';
export * from './linear/words.ts';
