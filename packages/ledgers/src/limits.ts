import { wholeNumbers } from '@mrtr/core/internal';

/** The limits of a ledger. Anonymous callers share the limits of all. */
export interface LedgerCapacity {
  /** Tokens remembered at once. Default 1 000 000. PostgreSQL counts them at each sweep. */
  readonly maxEntries?: number;
  /** The same for one principal, counted at each new token. Default 1000. */
  readonly maxEntriesPerPrincipal?: number;
  /**
   * Bytes of all recorded results. Default 256 MiB. A result over the limit is not kept, and its token counts as lost.
   * PostgreSQL counts the results at each sweep, and then adds those that this instance records.
   */
  readonly maxBytes?: number;
  /** The same for one principal, counted at each result. Default 4 MiB. */
  readonly maxBytesPerPrincipal?: number;
}

export const LEDGER_DEFAULTS = {
  maxEntries: 1_000_000,
  maxEntriesPerPrincipal: 1000,
  maxBytes: 268_435_456,
  maxBytesPerPrincipal: 4_194_304,
};

export const LEDGER_CHECKS = wholeNumbers(LEDGER_DEFAULTS);

/** The limits of a store of pending interactions. */
export interface InteractionCapacity {
  /** Interactions at once. Default 100 000. PostgreSQL counts them at each sweep. */
  readonly maxEntries?: number;
  /** Open pages of one principal, counted at each new one, over all instances. Default 20. */
  readonly maxEntriesPerPrincipal?: number;
  /** Finished pages of one principal that are still kept. Default 200. */
  readonly maxOverPerPrincipal?: number;
  /** Bytes of one value. With the limits above, it bounds the whole store. Default 8192. */
  readonly maxValueBytes?: number;
}

export const INTERACTION_DEFAULTS = {
  maxEntries: 100_000,
  maxEntriesPerPrincipal: 20,
  maxOverPerPrincipal: 200,
  maxValueBytes: 8192,
};

export const INTERACTION_CHECKS = wholeNumbers(INTERACTION_DEFAULTS);
