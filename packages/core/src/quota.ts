/** Limits that are counted per principal and in all. */

/** Which limit is reached: that of one owner (`own`), or that of all together (`all`). */
export type QuotaExceeded = 'own' | 'all';

/** Counts what owners hold. An anonymous owner (undefined) counts towards the limit of all only. */
export class Quota {
  readonly #max: number;
  readonly #maxOwn: number;
  readonly #own = new Map<string, number>();
  #total = 0;

  /**
   * @param max the most that all owners may hold together.
   * @param maxOwn the most that one owner may hold.
   */
  constructor(max: number, maxOwn = max) {
    this.#max = max;
    this.#maxOwn = maxOwn;
  }

  /** The sum that is held now. */
  get total(): number {
    return this.#total;
  }

  /** Takes `amount` for `owner`, or takes nothing and returns the limit that is reached. */
  take(owner: string | undefined, amount = 1): QuotaExceeded | undefined {
    if (this.#total + amount > this.#max) return 'all';
    if (owner !== undefined) {
      const own = (this.#own.get(owner) ?? 0) + amount;
      if (own > this.#maxOwn) return 'own';
      this.#own.set(owner, own);
    }
    this.#total += amount;
    return undefined;
  }

  /** Gives back an `amount` that `owner` took. */
  give(owner: string | undefined, amount = 1): void {
    this.#total -= amount;
    if (owner === undefined) return;
    const own = (this.#own.get(owner) ?? 0) - amount;
    if (own > 0) this.#own.set(owner, own);
    else this.#own.delete(owner);
  }
}
