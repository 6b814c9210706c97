/**
 * Single use. A sealed token is honest for as long as it lives, and can be presented any number of times; only a
 * record of what was presented can change that.
 */
import { StoreFull } from '../errors.ts';
import { requireWholeNumbers } from '../whole-numbers.ts';

/** What a ledger says of a token that is presented. */
export type Claim =
  /** Nobody presented it before: serve it, then settle it. */
  | { readonly kind: 'first' }
  /** It was served; `result` is what {@link StateLedger.settle} was given. */
  | { readonly kind: 'settled'; readonly result: string }
  /** It is being served now, by somebody whose lease has not lapsed. */
  | { readonly kind: 'in-flight' }
  /** Whoever served it went away in the middle. What was done is not known, so it is never served again. */
  | { readonly kind: 'lost' };

/** Remembers which tokens were presented, for all instances that share it. */
export interface StateLedger {
  /**
   * Claims a token. Of any number of concurrent claims, exactly one is `first`.
   *
   * @param id the token's unique id.
   * @param expiresAt when the token dies, in seconds since the epoch: the entry may be forgotten after that.
   * @param leaseSeconds how long the claimant may take, before its claim counts as lost.
   */
  claim(id: string, expiresAt: number, leaseSeconds: number): Promise<Claim>;
  /** Keeps the result of a token that was claimed first. Does nothing when the entry is gone. */
  settle(id: string, result: string): Promise<void>;
}

/** What a {@link MemoryLedger} takes. */
export interface MemoryLedgerOptions {
  /** Tokens remembered at once. Default 100 000. */
  readonly maxEntries?: number;
  /** Bytes of all recorded results. Default 64 MiB. A result over it is not kept: its token counts as lost. */
  readonly maxBytes?: number;
  /** The clock, in milliseconds. Default `Date.now`. */
  readonly now?: () => number;
}

interface Entry {
  readonly expiresAt: number;
  leaseUntil: number;
  result?: string;
}

/** The ledger of one process: right for one instance, and the default where a policy asks for single use. */
export class MemoryLedger implements StateLedger {
  readonly #entries = new Map<string, Entry>();
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  readonly #now: () => number;
  #bytes = 0;

  /** @throws InvalidPolicy for a limit that is not a whole number of at least 1. */
  constructor({ maxEntries = 100_000, maxBytes = 67_108_864, now = Date.now }: MemoryLedgerOptions = {}) {
    requireWholeNumbers('MemoryLedger', { maxEntries, maxBytes });
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
    this.#now = now;
  }

  /** Tokens remembered now. */
  get size(): number {
    return this.#entries.size;
  }

  /** @throws StoreFull when as many tokens as allowed are alive: to forget one of them would let it be used twice. */
  async claim(id: string, expiresAt: number, leaseSeconds: number): Promise<Claim> {
    const now = this.#now() / 1000;
    const entry = this.#entries.get(id);
    if (entry?.result !== undefined) return { kind: 'settled', result: entry.result };
    if (entry) return { kind: now < entry.leaseUntil ? 'in-flight' : 'lost' };
    this.#forget(now);
    if (this.#entries.size >= this.#maxEntries) {
      throw new StoreFull(
        'This server has too many calls under way. Try again later. Nothing of this round has run.',
      );
    }
    this.#entries.set(id, { expiresAt, leaseUntil: now + leaseSeconds });
    return { kind: 'first' };
  }

  async settle(id: string, result: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (!entry || entry.result !== undefined) return;
    if (this.#bytes + result.length > this.#maxBytes) {
      // It was served, and must not be again; but its result is more than there is room for.
      entry.leaseUntil = 0;
      return;
    }
    // A recorded result is sealed, so a character is a byte.
    this.#bytes += result.length;
    entry.result = result;
  }

  // Tokens of one policy live equally long, so the oldest entries are the first to die; a few at each claim keeps up.
  #forget(now: number): void {
    let looked = 0;
    for (const [id, { expiresAt, result = '' }] of this.#entries) {
      if (expiresAt > now || looked++ === 16) return;
      this.#entries.delete(id);
      this.#bytes -= result.length;
    }
  }
}
