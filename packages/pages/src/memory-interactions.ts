/** The interactions of one process. */

import { StoreFull } from '@mrtr/core';
import { addGauge, aFunction, anyValue, type QuotaExceeded, requireOptions } from '@mrtr/core/internal';
import {
  type InteractionLimits,
  type InteractionRow,
  type InteractionStore,
  interactionLimits,
  interactionsFullMessage,
} from './store.ts';

interface MemoryInteractionsOptions {
  /** Limits of what the store holds, of all callers and of one principal. */
  readonly limits?: InteractionLimits | undefined;
  /** The clock, in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** The default limit of all interactions in memory. */
export const MEMORY_ENTRIES = 10_000;

const GONE = {
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
  readonly #limits: ReturnType<typeof interactionLimits>;
  readonly #now: () => number;

  /** @throws InvalidOption for an unknown or invalid option. */
  constructor(options: MemoryInteractionsOptions = {}) {
    const checks = { limits: anyValue, now: aFunction };
    requireOptions('MemoryInteractions', options, checks, GONE);
    this.#limits = interactionLimits('MemoryInteractions', options.limits, MEMORY_ENTRIES);
    this.#now = options.now ?? (() => Date.now());
    addGauge('pages.pending', this, (store) => store.#pending);
  }

  /** Unfinished pages. Expired ones may still be there. */
  get #pending() {
    const now = this.#now();
    return [...this.#entries.values()].filter(({ isOver, endsAt }) => !isOver && now < endsAt).length;
  }

  /** See {@link InteractionStore.add}. */
  async add({ id, pseudonym, value, ttlSeconds }: InteractionRow): Promise<boolean> {
    if (this.#find(id)) return false;
    const full = this.#fullFor(pseudonym);
    if (full) throw new StoreFull(interactionsFullMessage(full));
    this.#entries.set(id, { pseudonym, value, endsAt: this.#now() + ttlSeconds * 1000, isOver: false });
    return true;
  }

  /** See {@link InteractionStore.find}. */
  async find(id: string): Promise<string | undefined> {
    return this.#find(id)?.value;
  }

  /** See {@link InteractionStore.replace}. */
  async replace(
    { id, value, ttlSeconds }: InteractionRow,
    before: string,
    isOver: boolean,
  ): Promise<boolean> {
    const entry = this.#find(id);
    if (entry?.value !== before) return false;
    entry.value = value;
    entry.endsAt = this.#now() + ttlSeconds * 1000;
    entry.isOver ||= isOver;
    return true;
  }

  #find(id: string) {
    const entry = this.#entries.get(id);
    return entry && this.#now() < entry.endsAt ? entry : undefined;
  }

  /**
   * Forgets expired interactions, and counts the others. It visits every one: a new page is rare beside the requests of
   * its call.
   */
  #fullFor(pseudonym: string): QuotaExceeded | undefined {
    const { entries, ownOpen, ownOver } = this.#limits;
    const now = this.#now();
    let [open, over] = [0, 0];
    for (const [id, entry] of this.#entries) {
      if (entry.endsAt <= now) this.#entries.delete(id);
      else if (entry.pseudonym !== pseudonym) continue;
      else if (entry.isOver) over++;
      else open++;
    }
    if (this.#entries.size >= entries) return 'all';
    return open >= ownOpen || over >= ownOver ? 'own' : undefined;
  }
}
