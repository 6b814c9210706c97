/** The interactions of one process. */

import { StoreFull } from '@mrtr/core';
import {
  addGauge,
  aFunction,
  Quota,
  type QuotaExceeded,
  requireOptions,
  wholeNumbers,
  withDefaults,
} from '@mrtr/core/internal';
import {
  type InteractionStore,
  interactionsFullMessage,
  type NewInteraction,
  type NewTime,
  requireInteractionFits,
} from './store.ts';

/** The options of a {@link MemoryInteractions}. */
export interface MemoryInteractionsOptions {
  /** Limit of interactions at once. Default 10 000. */
  readonly maxEntries?: number;
  /** Limit of one principal's open pages. Default 20. */
  readonly maxEntriesPerPrincipal?: number;
  /** Limit of one principal's finished pages that are still kept. Default 200. */
  readonly maxOverPerPrincipal?: number;
  /** Limit of one value, in bytes. Default 8192. With the limits above, it bounds the whole store. */
  readonly maxValueBytes?: number;
  /** The clock, in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

export const MEMORY_LIMITS = {
  maxEntries: 10_000,
  maxEntriesPerPrincipal: 20,
  maxOverPerPrincipal: 200,
  maxValueBytes: 8192,
};

interface Entry {
  readonly pseudonym: string;
  endsAt: number;
  value: string;
  isOver: boolean;
}

/** The interactions of one process. */
export class MemoryInteractions implements InteractionStore {
  readonly #entries = new Map<string, Entry>();
  readonly #open: Quota;
  readonly #over = new Quota(Number.POSITIVE_INFINITY);
  readonly #options: Required<MemoryInteractionsOptions>;
  #nextSweep = 0;

  /** @throws InvalidOption for an unknown or invalid option. */
  constructor(options: MemoryInteractionsOptions = {}) {
    requireOptions<MemoryInteractionsOptions>('MemoryInteractions', options, {
      ...wholeNumbers(MEMORY_LIMITS),
      now: aFunction,
    });
    this.#options = withDefaults(options, { ...MEMORY_LIMITS, now: () => Date.now() });
    this.#open = new Quota(this.#options.maxEntries, this.#options.maxEntriesPerPrincipal);
    addGauge('pages.pending', this, (store) => store.#pending);
  }

  /** Unfinished pages. Counts the entries one by one, since expired ones may still be there. */
  get #pending(): number {
    const now = this.#options.now();
    return [...this.#entries.values()].filter(({ isOver, endsAt }) => !isOver && now < endsAt).length;
  }

  /** See {@link InteractionStore.add}. */
  async add({ id, pseudonym, value, ttlSeconds }: NewInteraction): Promise<boolean> {
    requireInteractionFits(value, this.#options.maxValueBytes);
    if (this.#alive(id)) return false;
    const full = this.#roomFor(pseudonym);
    if (full) throw new StoreFull(interactionsFullMessage(full));
    this.#entries.set(id, {
      pseudonym,
      value,
      endsAt: this.#options.now() + ttlSeconds * 1000,
      isOver: false,
    });
    return true;
  }

  /** See {@link InteractionStore.find}. */
  async find(id: string): Promise<string | undefined> {
    return this.#alive(id)?.value;
  }

  /** See {@link InteractionStore.replace}. */
  async replace(id: string, before: string, after: string, time?: NewTime): Promise<boolean> {
    requireInteractionFits(after, this.#options.maxValueBytes);
    const entry = this.#alive(id);
    if (entry?.value !== before) return false;
    entry.value = after;
    if (!time) return true;
    entry.endsAt = this.#options.now() + time.ttlSeconds * 1000;
    if (time.isOver && !entry.isOver) {
      entry.isOver = true;
      this.#open.giveBack(entry.pseudonym);
      this.#over.add(entry.pseudonym);
    }
    return true;
  }

  #alive(id: string): Entry | undefined {
    const entry = this.#entries.get(id);
    if (!entry || this.#options.now() < entry.endsAt) return entry;
    this.#remove(id, entry);
    return undefined;
  }

  /** Takes a place. If none is free, sweeps first, at most once a second: a sweep visits every entry. */
  #roomFor(pseudonym: string): QuotaExceeded | undefined {
    const full = this.#take(pseudonym);
    const now = this.#options.now();
    if (!full || now < this.#nextSweep) return full;
    this.#nextSweep = now + 1000;
    for (const [id, entry] of this.#entries) if (entry.endsAt <= now) this.#remove(id, entry);
    return this.#take(pseudonym);
  }

  #take(pseudonym: string): QuotaExceeded | undefined {
    if (this.#open.total + this.#over.total >= this.#options.maxEntries) return 'all';
    if (this.#over.amountOf(pseudonym) >= this.#options.maxOverPerPrincipal) return 'own';
    return this.#open.take(pseudonym);
  }

  #remove(id: string, { pseudonym, isOver }: Entry): void {
    this.#entries.delete(id);
    (isOver ? this.#over : this.#open).giveBack(pseudonym);
  }
}
