/** Remembers recent calls. Their number is limited: a client may never return. */
import { requireOptions, wholeNumbers, withDefaults } from '@mrtr/core/internal';

/** The time to live of remembered calls, and their largest number. */
export interface CallLimits {
  readonly ttlSeconds?: number;
  readonly maxTracedCalls?: number;
}

// The default lifetime of request state.
const DEFAULTS = { ttlSeconds: 600, maxTracedCalls: 10_000 };

/** A remembered call. */
interface Recent<T> {
  readonly value: T;
  readonly since: number;
}

/** A value for each recent call, by the call's id. */
export class RecentCalls<T> {
  readonly #limits: Required<CallLimits>;
  readonly #onForget: (value: T) => void;
  // All calls have the same time to live, so they expire in the order of insertion.
  readonly #byId = new Map<string, Recent<T>>();

  /**
   * @param owner the function that takes the `limits`.
   * @param onForget gets the value of a call that has expired, or is over the limit.
   * @throws InvalidOption for an unknown or invalid option.
   */
  constructor(owner: string, limits: CallLimits, onForget: (value: T) => void = () => {}) {
    requireOptions<CallLimits>(owner, limits, wholeNumbers(DEFAULTS));
    this.#limits = withDefaults(limits, DEFAULTS);
    this.#onForget = onForget;
  }

  /** The number of calls. */
  get size(): number {
    return this.#byId.size;
  }

  find(id: string): T | undefined {
    return this.#byId.get(id)?.value;
  }

  remember(id: string, value: T): void {
    // Move it behind all others, which expire earlier.
    this.#byId.delete(id);
    this.#byId.set(id, { value, since: Date.now() });
    if (this.#byId.size > this.#limits.maxTracedCalls) this.#forgetOldest();
  }

  forget(id: string): void {
    this.#byId.delete(id);
  }

  /** All calls, the oldest first. */
  values(): Iterable<Recent<T>> {
    return this.#byId.values();
  }

  forgetExpired(): void {
    const before = Date.now() - this.#limits.ttlSeconds * 1000;
    for (const { since } of this.#byId.values()) {
      if (since > before) break;
      this.#forgetOldest();
    }
  }

  #forgetOldest(): void {
    const [id, { value }] = this.#byId.entries().next().value as [string, Recent<T>];
    this.#byId.delete(id);
    this.#onForget(value);
  }
}
