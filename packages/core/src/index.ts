/** `@mrtr/core`: the wire types of Multi Round-Trip Requests, eras, answers, and sealed request state. */
export * from './answer.ts';
export * from './ask-live.ts';
export * from './call.ts';
export * from './can-ask.ts';
export * from './diagnostics.ts';
export * from './elicitation.ts';
export * from './errors.ts';
export * from './memoized.ts';
export * from './model-and-roots.ts';
export * from './question.ts';
export * from './results.ts';
export * from './revision.ts';
export * from './server.ts';
export { openAtRest, pseudonym, sealAtRest } from './state/at-rest.ts';
export type { Binding } from './state/binding.ts';
export { protectRequestState } from './state/boundary.ts';
export { canonicalJson } from './state/canonical-json.ts';
export {
  type Opened,
  openState,
  type RejectionReason,
  type Seal,
  sealState,
  tokenLength,
} from './state/codec.ts';
export { ephemeralRing, keyRing, type SealingKey } from './state/key-ring.ts';
export { type Claim, MemoryLedger, type MemoryLedgerOptions, type StateLedger } from './state/ledger.ts';
export { type RequestStateOptions, type RequestStatePolicy, requestStatePolicy } from './state/policy.ts';
export { isRoutingLabel, routeBy } from './state/routing-label.ts';
export type { SecondPresentation, SingleUsePolicy } from './state/single-use.ts';
export * from './whole-numbers.ts';
export * from './wire.ts';
