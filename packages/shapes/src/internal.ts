/** `@mrtr/shapes/internal`: what `@mrtr/linear-dbos` shares with shape H. It is published without types, and documented nowhere. */
export { callerOf } from './kit/handler-context.ts';
export { heldBytes } from './kit/held-bytes.ts';
export { assertJson } from './kit/json.ts';
export {
  CLIENT_CANCELLED,
  NO_NEW_CALLS,
  PRINCIPAL_FULL,
  PRINCIPAL_FULL_OF_BYTES,
  SERVER_FULL,
  SERVER_FULL_OF_BYTES,
  UNANSWERED,
} from './linear/messages.ts';
