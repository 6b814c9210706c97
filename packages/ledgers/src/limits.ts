import { limitsOf, ownLimit } from '@mrtr/core/internal';

/** The limits of a ledger. Anonymous callers share `entries` and `bytes`. */
export interface LedgerLimits {
  /** Tokens remembered at once. Default 1 000 000. PostgreSQL counts them at each sweep. */
  readonly entries?: number;
  /**
   * Bytes of all recorded results. Default 256 MiB. A result over the limit is not kept, and its token counts as lost.
   * PostgreSQL counts the results at each sweep, and then adds those that this instance records.
   */
  readonly bytes?: number;
  /**
   * The share of each that one principal may take, above 0 and at most 1: at least one entry and one byte, rounded
   * down. Default 1/256: 3906 tokens and 1 MiB. It is counted at each new token and each result, over all instances.
   */
  readonly perPrincipal?: number;
}

const DEFAULTS = { entries: 1_000_000, bytes: 268_435_456, perPrincipal: 1 / 256 };

/** @internal The limits of a ledger, of all and of one principal. */
export function ledgerLimits(owner: string, given: LedgerLimits | undefined) {
  const { entries, bytes, perPrincipal } = limitsOf(owner, given, DEFAULTS);
  return {
    entries,
    bytes,
    ownEntries: ownLimit(entries, perPrincipal),
    ownBytes: ownLimit(bytes, perPrincipal),
  };
}

/** @internal Interactions at once, of all callers. */
export const INTERACTIONS = 100_000;

/** @internal The options of earlier versions. */
export const GONE = {
  maxEntries: 'Write `limits: { entries }`.',
  maxEntriesPerPrincipal: 'Write `limits: { perPrincipal }`, the share of one principal.',
  maxBytes: 'Write `limits: { bytes }`.',
  maxBytesPerPrincipal: 'Write `limits: { perPrincipal }`, the share of one principal.',
  maxOverPerPrincipal: 'It is ten times the open pages of one principal: write `limits: { perPrincipal }`.',
  maxValueBytes: 'It is fixed: 8192 bytes.',
  sweepSeconds: 'It is fixed: 60 seconds.',
};
