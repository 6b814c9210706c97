/** Limits per principal and in total. */
import { OperatorWarning } from '../diagnostics/operator-warning.ts';
import { ownLimit } from '../options.ts';

/** The limit that is reached: one owner's (`own`) or the total (`all`). */
export type QuotaExceeded = 'own' | 'all';

/** Counts amounts per owner and in total. An anonymous owner (undefined) counts towards the total only. */
export class Quota {
  readonly #max: number;
  readonly #maxOwn: number;
  readonly #own = new Map<string, number>();
  #total = 0;

  /**
   * @param max the limit of the total.
   * @param share the share of it that one owner may take; see `ownLimit`.
   */
  constructor(max: number, share = 1) {
    this.#max = max;
    this.#maxOwn = ownLimit(max, share);
  }

  /** The current total. */
  get total() {
    return this.#total;
  }

  /** The current amount of `owner`; 0 for an anonymous owner. */
  amountOf(owner: string | undefined) {
    return owner === undefined ? 0 : (this.#own.get(owner) ?? 0);
  }

  /** Takes `amount` for `owner`, or takes nothing and returns the limit that is reached. */
  take(owner: string | undefined, amount = 1): QuotaExceeded | undefined {
    if (this.#total + amount > this.#max) return 'all';
    const full = this.assign(owner, amount);
    if (!full) this.#total += amount;
    return full;
  }

  /** Adds an `amount` that `owner` already holds, even above the limits. It blocks others until it is given back. */
  add(owner: string | undefined, amount = 1) {
    this.#total += amount;
    if (owner !== undefined) this.#own.set(owner, this.amountOf(owner) + amount);
  }

  /** Assigns an anonymously taken `amount` to `owner`, or changes nothing and returns the limit that is reached. */
  assign(owner: string | undefined, amount = 1): QuotaExceeded | undefined {
    if (owner === undefined) return undefined;
    const own = this.amountOf(owner) + amount;
    if (own > this.#maxOwn) return 'own';
    this.#own.set(owner, own);
    return undefined;
  }

  /** Gives back an `amount` that `owner` took. */
  giveBack(owner: string | undefined, amount = 1) {
    this.#total -= amount;
    if (owner === undefined) return;
    const own = this.amountOf(owner) - amount;
    if (own > 0) this.#own.set(owner, own);
    else this.#own.delete(owner);
  }
}

/** A place in a quota. It can move to another quota while its work continues, and is given back once. */
export class QuotaSlot {
  readonly #amount: number;
  #owner: string | undefined;
  #quota: Quota | undefined;

  private constructor(quota: Quota, owner: string | undefined, amount: number) {
    this.#quota = quota;
    this.#owner = owner;
    this.#amount = amount;
  }

  /** Takes `amount` of `quota` for `owner`, or takes nothing and returns the limit that is reached. */
  static take(quota: Quota, owner: string | undefined, amount = 1): QuotaSlot | QuotaExceeded {
    return quota.take(owner, amount) ?? new QuotaSlot(quota, owner, amount);
  }

  /**
   * Takes the same amount of `other` and gives the current place back. If `other` is full, changes nothing.
   *
   * @returns whether the place is in `other` now; false also if it was given back before.
   */
  moveTo(other: Quota) {
    if (this.#quota === other) return true;
    if (!this.#quota || other.take(this.#owner, this.#amount)) return false;
    this.#quota.giveBack(this.#owner, this.#amount);
    this.#quota = other;
    return true;
  }

  /** Assigns an anonymously taken place to `owner`, or changes nothing and returns the limit that is reached. */
  assign(owner: string | undefined): QuotaExceeded | undefined {
    const full = this.#quota?.assign(owner, this.#amount);
    if (!full) this.#owner = owner;
    return full;
  }

  /** Gives the place back. Later calls do nothing. */
  giveBack() {
    this.#quota?.giveBack(this.#owner, this.#amount);
    this.#quota = undefined;
  }
}

/**
 * Counts abandoned handlers: their calls were cancelled, and they still run. Reports when it is full, once for all callers
 * and once per principal, and again only after a counted handler has ended.
 */
export class AbandonedQuota extends Quota {
  readonly #report: (error: Error) => void;
  /** The principals already reported; undefined stands for all callers. */
  readonly #reported = new Set<string | undefined>();

  constructor(max: number, share: number, report: (error: Error) => void) {
    super(max, share);
    this.#report = report;
  }

  override take(owner: string | undefined, amount = 1): QuotaExceeded | undefined {
    const full = super.take(owner, amount);
    if (!full) return undefined;
    const reported = full === 'own' ? owner : undefined;
    if (this.#reported.has(reported)) return full;
    this.#reported.add(reported);
    const [held, whose] =
      full === 'own'
        ? [this.amountOf(owner), 'cancelled calls of one caller']
        : [this.total, 'cancelled calls'];
    this.#report(new OperatorWarning('handlers_abandoned', notEnded(held, whose)));
    return full;
  }

  override giveBack(owner: string | undefined, amount = 1) {
    super.giveBack(owner, amount);
    this.#reported.delete(owner);
    this.#reported.delete(undefined);
  }
}

const notEnded = (held: number, whose: string) =>
  `${held} handlers of ${whose} have not ended. Later cancelled calls keep their places until their handlers end. ` +
  'Make handlers end when their signal fires, and restart the server if they cannot.';
