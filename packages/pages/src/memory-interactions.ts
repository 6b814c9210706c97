/** The interactions of one process. */

import { StoreFull } from '@mrtr/core';
import {
  addGauge,
  aFunction,
  anyValue,
  type GoneOptions,
  Quota,
  type QuotaExceeded,
  requireOptions,
} from '@mrtr/core/internal';
import {
  type InteractionLimits,
  type InteractionStore,
  interactionLimits,
  interactionsFullMessage,
  type NewInteraction,
  type NewTime,
} from './store.ts';

interface MemoryInteractionsOptions {
  readonly limits?: InteractionLimits | undefined;
  /** The clock, in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** The default limit of all interactions in memory. */
export const MEMORY_ENTRIES = 10_000;

const GONE: GoneOptions = {
  maxEntries: 'Write `limits: { entries }`.',
  maxEntriesPerPrincipal: 'Write `limits: { perPrincipal }`, the share of one principal.',
  maxOverPerPrincipal: 'It is ten times the open pages of one principal: write `limits: { perPrincipal }`.',
  maxValueBytes: 'It is fixed: 8192 bytes.',
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
  readonly #limits: ReturnType<typeof interactionLimits>;
  readonly #now: () => number;
  #nextSweep = 0;

  /** @throws InvalidOption for an unknown or invalid option. */
  constructor(options: MemoryInteractionsOptions = {}) {
    const checks = { limits: anyValue, now: aFunction };
    requireOptions<MemoryInteractionsOptions>('MemoryInteractions', options, checks, GONE);
    this.#limits = interactionLimits('MemoryInteractions', options.limits, MEMORY_ENTRIES);
    this.#open = new Quota(this.#limits.entries, this.#limits.ownOpen);
    this.#now = options.now ?? (() => Date.now());
    addGauge('pages.pending', this, (store) => store.#pending);
  }

  /** Unfinished pages. Counts the entries one by one, since expired ones may still be there. */
  get #pending(): number {
    const now = this.#now();
    return [...this.#entries.values()].filter(({ isOver, endsAt }) => !isOver && now < endsAt).length;
  }

  /** See {@link InteractionStore.add}. */
  async add({ id, pseudonym, value, ttlSeconds }: NewInteraction): Promise<boolean> {
    if (this.#alive(id)) return false;
    const full = this.#roomFor(pseudonym);
    if (full) throw new StoreFull(interactionsFullMessage(full));
    this.#entries.set(id, {
      pseudonym,
      value,
      endsAt: this.#now() + ttlSeconds * 1000,
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
    const entry = this.#alive(id);
    if (entry?.value !== before) return false;
    entry.value = after;
    if (!time) return true;
    entry.endsAt = this.#now() + time.ttlSeconds * 1000;
    if (time.isOver && !entry.isOver) {
      entry.isOver = true;
      this.#open.giveBack(entry.pseudonym);
      this.#over.add(entry.pseudonym);
    }
    return true;
  }

  #alive(id: string): Entry | undefined {
    const entry = this.#entries.get(id);
    if (!entry || this.#now() < entry.endsAt) return entry;
    this.#remove(id, entry);
    return undefined;
  }

  /** Takes a place. If none is free, sweeps first, at most once a second: a sweep visits every entry. */
  #roomFor(pseudonym: string): QuotaExceeded | undefined {
    const full = this.#take(pseudonym);
    const now = this.#now();
    if (!full || now < this.#nextSweep) return full;
    this.#nextSweep = now + 1000;
    for (const [id, entry] of this.#entries) if (entry.endsAt <= now) this.#remove(id, entry);
    return this.#take(pseudonym);
  }

  #take(pseudonym: string): QuotaExceeded | undefined {
    if (this.#open.total + this.#over.total >= this.#limits.entries) return 'all';
    if (this.#over.amountOf(pseudonym) >= this.#limits.ownOver) return 'own';
    return this.#open.take(pseudonym);
  }

  #remove(id: string, { pseudonym, isOver }: Entry): void {
    this.#entries.delete(id);
    (isOver ? this.#over : this.#open).giveBack(pseudonym);
  }
}
