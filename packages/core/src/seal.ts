/** `@mrtr/core/seal`: for authors of ledgers and stores: sealing at rest, its keys, and the contract of ledgers. */

export type { LeaseDecision, LeaseRequest, StateLedger } from './admission/ledger.ts';
export { keyRingOf } from './admission/policy.ts';
export { derivePseudonym, openAtRest, sealAtRest } from './state/at-rest.ts';
export { CLOCK_SKEW_MS } from './state/codec.ts';
export { type KeyRing, keyRing, type SealingKey } from './state/key-ring.ts';
