/** The interactions of one process. */

import { StoreFull } from '@mrtr/core';
import { addGauge, aFunction, Quota, type QuotaExceeded, requireOptions, wholeNumber } from '@mrtr/core/kit';
import {
  type InteractionStore,
  interactionsFullMessage,
  type NewInteraction,
  type NewTime,
  requireInteractionFits,
} from './store.ts';

/** The options of a {@link MemoryInteractions}. */
export interface MemoryInteractionsOptions {
  /** Interactions at once. Default 10 000. */
  readonly maxEntries?: number;
  /** Open pages of one principal. Default 20. */
  readonly maxEntriesPerPrincipal?: number;
  /** Pages of one principal that are over and still kept. Default 200. */
  readonly maxOverPerPrincipal?: number;
  /** Bytes of one value, and so, with the numbers above, of all. Default 8192. */
  readonly maxValueBytes?: number;
  /** The clock, in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

interface Entry {
  readonly principal: string;
  endsAt: number;
  value: string;
  isOver: boolean;
}

/** The interactions of one process. */
export class MemoryInteractions implements InteractionStore {
  readonly #entries = new Map<string, Entry>();
  readonly #open: Quota;
  readonly #over = new Quota(Number.POSITIVE_INFINITY);
  readonly #maxEntries: number;
  readonly #maxOver: number;
  readonly #maxValueBytes: number;
  readonly #now: () => number;
  #nextSweep = 0;

  /** @throws InvalidOption for an option that does not exist, or has a value that it cannot have. */
  constructor(options: MemoryInteractionsOptions = {}) {
    requireOptions<MemoryInteractionsOptions>('MemoryInteractions', options, {
      maxEntries: wholeNumber(),
      maxEntriesPerPrincipal: wholeNumber(),
      maxOverPerPrincipal: wholeNumber(),
      maxValueBytes: wholeNumber(),
      now: aFunction,
    });
    const {
      maxEntries = 10_000,
      maxEntriesPerPrincipal = 20,
      maxOverPerPrincipal = 200,
      maxValueBytes = 8192,
      now = Date.now,
    } = options;
    this.#open = new Quota(maxEntries, maxEntriesPerPrincipal);
    this.#maxEntries = maxEntries;
    this.#maxOver = maxOverPerPrincipal;
    this.#maxValueBytes = maxValueBytes;
    this.#now = now;
    addGauge('pages.pending', this, (store) => store.#pending);
  }

  /** Pages that their users have not finished. Looks at every one: entries whose time is over may stay. */
  get #pending(): number {
    const now = this.#now();
    return [...this.#entries.values()].filter(({ isOver, endsAt }) => !isOver && now < endsAt).length;
  }

  /** See {@link InteractionStore.add}. */
  async add({ id, principal, value, ttlSeconds }: NewInteraction): Promise<boolean> {
    requireInteractionFits(value, this.#maxValueBytes);
    if (this.#alive(id)) return false;
    const full = this.#roomFor(principal);
    if (full) throw new StoreFull(interactionsFullMessage(full));
    this.#entries.set(id, { principal, value, endsAt: this.#now() + ttlSeconds * 1000, isOver: false });
    return true;
  }

  /** See {@link InteractionStore.find}. */
  async find(id: string): Promise<string | undefined> {
    return this.#alive(id)?.value;
  }

  /** See {@link InteractionStore.replace}. */
  async replace(id: string, before: string, after: string, time?: NewTime): Promise<boolean> {
    requireInteractionFits(after, this.#maxValueBytes);
    const entry = this.#alive(id);
    if (entry?.value !== before) return false;
    entry.value = after;
    if (!time) return true;
    entry.endsAt = this.#now() + time.ttlSeconds * 1000;
    if (time.isOver && !entry.isOver) {
      entry.isOver = true;
      this.#open.giveBack(entry.principal);
      this.#over.add(entry.principal);
    }
    return true;
  }

  #alive(id: string): Entry | undefined {
    const entry = this.#entries.get(id);
    if (!entry || this.#now() < entry.endsAt) return entry;
    this.#remove(id, entry);
    return undefined;
  }

  /** Takes a place. If none is free, sweeps first. A sweep looks at every entry, so it runs at most once a second. */
  #roomFor(principal: string): QuotaExceeded | undefined {
    const full = this.#take(principal);
    const now = this.#now();
    if (!full || now < this.#nextSweep) return full;
    this.#nextSweep = now + 1000;
    for (const [id, entry] of this.#entries) if (entry.endsAt <= now) this.#remove(id, entry);
    return this.#take(principal);
  }

  #take(principal: string): QuotaExceeded | undefined {
    if (this.#open.total + this.#over.total >= this.#maxEntries) return 'all';
    if (this.#over.amountOf(principal) >= this.#maxOver) return 'own';
    return this.#open.take(principal);
  }

  #remove(id: string, { principal, isOver }: Entry): void {
    this.#entries.delete(id);
    (isOver ? this.#over : this.#open).giveBack(principal);
  }
}
