/** Limits that are counted per principal and in all. */
import { OperatorWarning } from '../support/operator-warning.ts';

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

  /** What `owner` holds now; 0 for an anonymous owner, who is not counted alone. */
  amountOf(owner: string | undefined): number {
    return owner === undefined ? 0 : (this.#own.get(owner) ?? 0);
  }

  /** Takes `amount` for `owner`, or takes nothing and returns the limit that is reached. */
  take(owner: string | undefined, amount = 1): QuotaExceeded | undefined {
    if (this.#total + amount > this.#max) return 'all';
    const full = this.assign(owner, amount);
    if (!full) this.#total += amount;
    return full;
  }

  /** Counts an `amount` that `owner` holds already, also beyond the limits. Until as much is given back, others get nothing. */
  add(owner: string | undefined, amount = 1): void {
    this.#total += amount;
    if (owner !== undefined) this.#own.set(owner, this.amountOf(owner) + amount);
  }

  /** Counts for `owner` an `amount` that was taken for nobody, or counts nothing and returns the limit that is reached. */
  assign(owner: string | undefined, amount = 1): QuotaExceeded | undefined {
    if (owner === undefined) return undefined;
    const own = (this.#own.get(owner) ?? 0) + amount;
    if (own > this.#maxOwn) return 'own';
    this.#own.set(owner, own);
    return undefined;
  }

  /** Gives back an `amount` that `owner` took. */
  giveBack(owner: string | undefined, amount = 1): void {
    this.#total -= amount;
    if (owner === undefined) return;
    const own = (this.#own.get(owner) ?? 0) - amount;
    if (own > 0) this.#own.set(owner, own);
    else this.#own.delete(owner);
  }
}

export const totalOf = ({ total }: Quota): number => total;

/** A place in a quota. It is given back once, and can move to another quota while its work continues. */
export class Place {
  readonly #amount: number;
  #owner: string | undefined;
  #quota: Quota | undefined;

  private constructor(quota: Quota, owner: string | undefined, amount: number) {
    this.#quota = quota;
    this.#owner = owner;
    this.#amount = amount;
  }

  /** Takes `amount` of `quota` for `owner`, or takes nothing and returns the limit that is reached. */
  static take(quota: Quota, owner: string | undefined, amount = 1): Place | QuotaExceeded {
    return quota.take(owner, amount) ?? new Place(quota, owner, amount);
  }

  /**
   * Takes the same amount of `other`, and gives the present one back. Where `other` is full, nothing changes.
   *
   * @returns false where `other` is full. True also where the place is there already, or was given back.
   */
  moveTo(other: Quota): boolean {
    if (!this.#quota || this.#quota === other) return true;
    if (other.take(this.#owner, this.#amount)) return false;
    this.#quota.giveBack(this.#owner, this.#amount);
    this.#quota = other;
    return true;
  }

  /** Counts a place that was taken for nobody for `owner`, or changes nothing and returns the limit that is reached. */
  assign(owner: string | undefined): QuotaExceeded | undefined {
    const full = this.#quota?.assign(owner, this.#amount);
    if (!full) this.#owner = owner;
    return full;
  }

  /** Gives the place back. Later calls do nothing. */
  giveBack(): void {
    this.#quota?.giveBack(this.#owner, this.#amount);
    this.#quota = undefined;
  }
}

/** Bounds on handlers that have not ended although their calls were cancelled. */
export interface AbandonedLimits {
  /**
   * Handlers of cancelled calls that have not ended, of all callers. Default 1000. Above it, a cancelled call keeps its
   * place among the running calls until its handler ends.
   */
  readonly maxAbandoned?: number;
  /** The same of one principal. Default 64; anonymous callers share `maxAbandoned`. */
  readonly maxAbandonedPerPrincipal?: number;
}

/**
 * Counts the handlers of cancelled calls that have not ended. Reports that it is full: once for all callers and once
 * for each principal, and anew only after one of the counted handlers has ended.
 */
export class AbandonedQuota extends Quota {
  readonly #report: (error: Error) => void;
  /** The principals that are reported; undefined stands for all callers. */
  readonly #reported = new Set<string | undefined>();

  constructor(limits: Required<AbandonedLimits>, report: (error: Error) => void) {
    super(limits.maxAbandoned, limits.maxAbandonedPerPrincipal);
    this.#report = report;
  }

  override take(owner: string | undefined, amount = 1): QuotaExceeded | undefined {
    const full = super.take(owner, amount);
    if (!full) return undefined;
    const reported = full === 'own' ? owner : undefined;
    if (this.#reported.has(reported)) return full;
    this.#reported.add(reported);
    const held = full === 'own' ? this.amountOf(owner) : this.total;
    this.#report(
      new OperatorWarning(
        'handlers_abandoned',
        notEnded(held, full === 'own' ? 'cancelled calls of one caller' : 'cancelled calls'),
      ),
    );
    return full;
  }

  override giveBack(owner: string | undefined, amount = 1): void {
    super.giveBack(owner, amount);
    this.#reported.delete(owner);
    this.#reported.delete(undefined);
  }
}

const notEnded = (held: number, whose: string): string =>
  `${held} handlers of ${whose} have not ended. Later cancelled calls keep their places until their handlers end. ` +
  'Make handlers end when their signal fires, and restart the server if they cannot.';
