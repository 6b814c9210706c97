/** `@mrtr/core/seal`: the codec of request state, its keys, and sealing at rest, for stores. */

export { ledgerFull } from './admission/ledger.ts';
export { openAtRest, pseudonym, sealAtRest } from './state/at-rest.ts';
export type { Binding } from './state/binding.ts';
export { CLOCK_SKEW_MS } from './state/clock-skew.ts';
export {
  type Opened,
  type OpenedState,
  openState,
  type RejectionReason,
  type Seal,
  type Sealed,
  sealState,
  tokenLength,
} from './state/codec.ts';
export { ephemeralRing, keyRing, type SealingKey } from './state/key-ring.ts';
