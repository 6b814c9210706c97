/** `@mrtr/shapes/internal`: what `@mrtr/linear-dbos` shares with shape H. It is published without types, and documented nowhere. */
export { callerOf } from './kit/handler-context.ts';
export { heldBytes } from './kit/held-bytes.ts';
export { assertJson } from './kit/json.ts';
export { argumentsFull, CLIENT_CANCELLED, callsFull, NO_NEW_CALLS, UNANSWERED } from './linear/messages.ts';
