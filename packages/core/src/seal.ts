/** `@mrtr/core/seal`: for authors of stores: the codec of request state, its keys, sealing at rest, and ledgers. */

export {
  type LeaseDecision,
  type LeaseRequest,
  ledgerFullMessage,
  type StateLedger,
} from './admission/ledger.ts';
export { keyRingOf } from './admission/policy.ts';
export { deriveName, derivePseudonym, openAtRest, sealAtRest } from './state/at-rest.ts';
export type { Binding } from './state/binding.ts';
export {
  CLOCK_SKEW_MS,
  type OpenedState,
  type OpenResult,
  openState,
  type SealOptions,
  sealState,
  type TokenContent,
} from './state/codec.ts';
export { ephemeralRing, type KeyRing, keyRing, type SealingKey } from './state/key-ring.ts';
