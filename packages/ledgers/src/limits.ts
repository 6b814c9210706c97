/** What the stores of this package may hold. */
import { wholeNumbers } from '@mrtr/core/kit';

/** What a ledger may hold. Anonymous callers share the limits of all. */
export interface LedgerCapacity {
  /** Tokens remembered at once. Default 1 000 000. PostgreSQL counts them at each sweep. */
  readonly maxEntries?: number;
  /** The same, of one principal, counted for each new token. Default 1000. */
  readonly maxEntriesPerPrincipal?: number;
  /**
   * Bytes of all recorded results. Default 256 MiB. A result without room is not kept: its token counts as lost.
   * PostgreSQL counts them at each sweep, and adds the results that this instance records until the next.
   */
  readonly maxBytes?: number;
  /** The same, of one principal, counted at each result. Default 4 MiB. */
  readonly maxBytesPerPrincipal?: number;
}

export const LEDGER_DEFAULTS = {
  maxEntries: 1_000_000,
  maxEntriesPerPrincipal: 1000,
  maxBytes: 268_435_456,
  maxBytesPerPrincipal: 4_194_304,
};

export const LEDGER_CHECKS = wholeNumbers(LEDGER_DEFAULTS);

/** What a store of pending interactions may hold. */
export interface InteractionCapacity {
  /** Interactions at once. Default 100 000. PostgreSQL counts them at each sweep. */
  readonly maxEntries?: number;
  /** Open pages of one principal, counted at each new one; on PostgreSQL, several at once may pass it. Default 20. */
  readonly maxEntriesPerPrincipal?: number;
  /** Pages of one principal that are over and still kept. Default 200. */
  readonly maxOverPerPrincipal?: number;
  /** Bytes of one value, and so, with the numbers above, of all. Default 8192. */
  readonly maxValueBytes?: number;
}

export const INTERACTION_DEFAULTS = {
  maxEntries: 100_000,
  maxEntriesPerPrincipal: 20,
  maxOverPerPrincipal: 200,
  maxValueBytes: 8192,
};

export const INTERACTION_CHECKS = wholeNumbers(INTERACTION_DEFAULTS);
