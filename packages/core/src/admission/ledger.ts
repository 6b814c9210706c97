/**
 * Ledgers make tokens single-use. A sealed token stays valid until it expires, so only a record of used tokens can stop
 * a client from using it twice.
 */
import { StoreFull } from '../errors.ts';
import { aFunction, anyValue, limitsOf, oneOf, requireOptions } from '../options.ts';
import { warnOnce } from '../process-wide.ts';
import { CLOCK_SKEW_MS } from '../state/codec.ts';
import { Quota, type QuotaExceeded } from './quota.ts';

/** One request with a token. Times are in milliseconds since the epoch. */
export interface LeaseRequest {
  /** The token's unique id. */
  readonly id: string;
  /** A digest of the answers that came with it. */
  readonly answers: string;
  /** When the token was sealed, by the clock of the server that sealed it. */
  readonly issuedAt: number;
  /** When the token expires: the ledger may forget it `CLOCK_SKEW_MS` later. */
  readonly expiresAt: number;
  /** The time to serve the token, in seconds; after that it counts as lost. */
  readonly leaseSeconds: number;
  /** The caller's pseudonym; undefined for an anonymous caller. */
  readonly pseudonym: string | undefined;
  /** The time on the clock of the server that presents it. */
  readonly now: number;
}

/** A ledger's decision about a presented token. Only `first` gives a lease to serve it. */
export type LeaseDecision =
  /**
   * Serve the token. End the lease with {@link StateLedger.settle}, or with {@link StateLedger.release} if nothing ran.
   * `lease` is an id that no other lease has, so that a server whose lease has ended cannot change a later one.
   */
  | { readonly kind: 'first'; readonly lease: string }
  /** The token was served, with answers of this digest; `result` is the text that {@link StateLedger.settle} got. */
  | { readonly kind: 'settled'; readonly result: string; readonly answers: string }
  /** Another request has a lease on the token that has not expired. */
  | { readonly kind: 'in-flight' }
  /** The lease expired before a result was recorded. The outcome is unknown, so the token is never served again. */
  | { readonly kind: 'lost' }
  /** The token has expired by the ledger's clock. */
  | { readonly kind: 'expired' }
  /** The token may be older than this ledger's records, which may have been lost. So its use is unknown. */
  | { readonly kind: 'older-than-ledger' }
  /** The server's clock differs from the ledger's by more than `CLOCK_SKEW_MS`, so no expiry can be trusted. */
  | { readonly kind: 'clock-differs'; readonly byMs: number };

/** Records the tokens that were used, for all instances that share it. It decides by its own clock. */
export interface StateLedger {
  /**
   * Asks for the lease to serve a token. Of concurrent requests with one token, exactly one gets `first`.
   *
   * @throws StoreFull when the limit of all tokens, or of this principal's tokens, is reached. Nothing was recorded.
   */
  lease(presented: LeaseRequest): Promise<LeaseDecision>;
  /** Records the result of the request that got `lease`. Does nothing if the token has no such lease. */
  settle(id: string, lease: string, result: string): Promise<void>;
  /**
   * Gives `lease` back because nothing ran: the next request gets `first`. Does nothing if the token has no such lease,
   * or has a result.
   */
  release(id: string, lease: string): Promise<void>;
}

/** The limits of a {@link MemoryLedger}. */
interface MemoryLedgerLimits {
  /** Tokens remembered at once. Default 100 000. */
  readonly entries?: number;
  /**
   * Bytes of all recorded results. Default 64 MiB. A result that does not fit is not kept: its token counts as lost.
   */
  readonly bytes?: number;
  /**
   * The share of `entries` and of `bytes` that one principal may take, above 0 and at most 1. Default 1/64: 1562 tokens
   * and 1 MiB. Anonymous callers share all of them.
   */
  readonly perPrincipal?: number;
}

/** The options of a {@link MemoryLedger}. */
export interface MemoryLedgerOptions {
  readonly limits?: MemoryLedgerLimits;
  /**
   * The behaviour of a full ledger. `reject` (the default) rejects the call: no token is ever served twice. `forget`
   * forgets the oldest served token, with one warning: that token could be served again.
   */
  readonly whenFull?: 'reject' | 'forget';
  /** The clock, in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

export const MEMORY_LEDGER_LIMITS = { entries: 100_000, bytes: 67_108_864, perPrincipal: 1 / 64 };

const GONE_OPTIONS = {
  maxEntries: 'Write `limits: { entries }`.',
  maxBytes: 'Write `limits: { bytes }`.',
  maxEntriesPerPrincipal: 'Write `limits: { perPrincipal }`: the share of one principal, for example 1/64.',
  maxBytesPerPrincipal: 'Write `limits: { perPrincipal }`: the share of one principal, for example 1/64.',
};

interface ServedToken {
  readonly answers: string;
  readonly forgetAt: number;
  readonly pseudonym: string | undefined;
  /** The lease's id; undefined if the token was served and its result did not fit. */
  lease: string | undefined;
  leaseUntil: number;
  result?: string;
}

/** A ledger in this process's memory. It suits a single instance. */
export class MemoryLedger implements StateLedger {
  readonly #tokens: ServedTokens;

  /** @throws InvalidOption for an option that does not exist, or has a value that it cannot have. */
  constructor(options: MemoryLedgerOptions = {}) {
    const checks = { limits: anyValue, whenFull: oneOf('reject', 'forget'), now: aFunction };
    requireOptions('MemoryLedger', options, checks, GONE_OPTIONS);
    this.#tokens = servedTokens(options);
  }

  /** Tokens remembered now. */
  get size(): number {
    return this.#tokens.entries.size;
  }

  /** @throws StoreFull when there is no room, unless `whenFull` is `forget`. */
  async lease(presented: LeaseRequest): Promise<LeaseDecision> {
    return this.#tokens.lease(presented);
  }

  async settle(...served: Parameters<StateLedger['settle']>): Promise<void> {
    this.#tokens.settle(...served);
  }

  async release(...leased: Parameters<StateLedger['release']>): Promise<void> {
    this.#tokens.release(...leased);
  }
}

/**
 * The table of a {@link MemoryLedger}. By itself it is the ledger of a policy that is given none: it answers at once, and its
 * results are not sealed, because they never leave the process.
 *
 * @param options those of a {@link MemoryLedger}, of which only the limits are checked here.
 */
export function servedTokens({ limits, whenFull, now = () => Date.now() }: MemoryLedgerOptions) {
  const checked = limitsOf('MemoryLedger', limits, MEMORY_LEDGER_LIMITS);
  const places = new Quota(checked.entries, checked.perPrincipal);
  const bytes = new Quota(checked.bytes, checked.perPrincipal);
  const entries = new Map<string, ServedToken>();
  /** The ids of the entries, by the second in which they may be forgotten. */
  const due = new Map<number, Set<string>>();
  let nextSweep = 0;
  let leases = 0;

  /** @throws StoreFull when there is no room, unless `whenFull` is `forget`. */
  function lease(presented: LeaseRequest): LeaseDecision {
    const { id, answers, expiresAt, leaseSeconds, pseudonym } = presented;
    const time = now();
    const byMs = presented.now - time;
    if (Math.abs(byMs) > CLOCK_SKEW_MS) return { kind: 'clock-differs', byMs };
    sweep(time);
    const entry = entries.get(id);
    if (entry?.result !== undefined) return { kind: 'settled', result: entry.result, answers: entry.answers };
    if (entry) return { kind: time < entry.leaseUntil ? 'in-flight' : 'lost' };
    if (time >= expiresAt) return { kind: 'expired' };
    const full = takePlace(pseudonym);
    if (full) throw ledgerFull(full);
    // A number is enough: no other process knows these leases.
    const [leaseId, leaseUntil] = [`${++leases}`, time + leaseSeconds * 1000];
    const forgetAt = expiresAt + CLOCK_SKEW_MS;
    entries.set(id, { answers, forgetAt, pseudonym, lease: leaseId, leaseUntil });
    const second = secondOf(forgetAt);
    due.set(second, (due.get(second) ?? new Set()).add(id));
    return { kind: 'first', lease: leaseId };
  }

  function settle(id: string, leaseId: string, result: string) {
    sweep(now());
    const entry = entryOf(id, leaseId);
    if (!entry) return;
    if (!bytes.take(entry.pseudonym, Buffer.byteLength(result))) {
      entry.result = result;
      return;
    }
    // There is no room for the result, and the token must not be served again.
    entry.leaseUntil = 0;
    entry.lease = undefined;
  }

  function release(id: string, leaseId: string) {
    const entry = entryOf(id, leaseId);
    if (entry) remove(id, entry);
  }

  /** The token's entry, if it has this lease and no result. */
  function entryOf(id: string, leaseId: string) {
    const entry = entries.get(id);
    return entry?.lease === leaseId && entry.result === undefined ? entry : undefined;
  }

  function takePlace(pseudonym: string | undefined) {
    for (;;) {
      const full = places.take(pseudonym);
      if (!full || whenFull !== 'forget' || !forgetOldest(full === 'own' ? pseudonym : undefined))
        return full;
    }
  }

  /** Forgets the oldest served token, of `pseudonym` if given. Returns whether there was one. */
  function forgetOldest(pseudonym: string | undefined) {
    for (const [id, entry] of entries) {
      const isServed = entry.result !== undefined || entry.leaseUntil <= now();
      if (!isServed || (pseudonym !== undefined && entry.pseudonym !== pseudonym)) continue;
      warnOnce('MRTR_LEDGER_FORGETS', FORGETS);
      remove(id, entry);
      return true;
    }
    return false;
  }

  /** Forgets expired tokens. At most once a second, because it looks at every second that has some. */
  function sweep(time: number) {
    if (time < nextSweep) return;
    nextSweep = time + 1000;
    for (const [second, ids] of due) {
      if (second * 1000 > time) continue;
      for (const id of ids) remove(id, entries.get(id) as ServedToken);
      due.delete(second);
    }
  }

  function remove(id: string, { pseudonym, result = '', forgetAt }: ServedToken) {
    entries.delete(id);
    due.get(secondOf(forgetAt))?.delete(id);
    places.giveBack(pseudonym);
    bytes.giveBack(pseudonym, Buffer.byteLength(result));
  }

  return { isLocal: true, entries: entries as ReadonlyMap<string, unknown>, lease, settle, release };
}

export type ServedTokens = ReturnType<typeof servedTokens>;

const secondOf = (milliseconds: number) => Math.ceil(milliseconds / 1000);

const FORGETS =
  'The ledger of this process is full, so it forgets the oldest approvals that were used; they could be used again. ' +
  'Give requestStatePolicy a `ledger` that has room.';

/** The error of a full ledger. */
export const ledgerFull = (full: QuotaExceeded): StoreFull =>
  new StoreFull(
    `${full === 'own' ? 'You have' : 'This server has'} too many calls under way. Try again later. Nothing of this ` +
      'round has run.',
  );
