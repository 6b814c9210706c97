/** Remembers recent calls. Their number is limited: a client may never return. */
import { type GoneOptions, requireOptions, wholeSeconds } from '@mrtr/core/internal';

/** The options of `traceMrtr` and `measureMrtr`. */
export interface ObserverOptions {
  /**
   * How long a call may wait for its user, in seconds. After that it is forgotten: its span ends as abandoned. Default 600,
   * as `ttlSeconds` of the policy. If you raise that one, raise this one.
   */
  readonly ttlSeconds?: number;
}

/** Above this limit, the call that has waited longest is forgotten. */
export const MAX_CALLS = 10_000;

const GONE_OPTIONS = {
  maxTracedCalls: `It is fixed: ${MAX_CALLS} calls.`,
} satisfies GoneOptions;

/** A remembered call. */
interface Recent<T> {
  readonly value: T;
  readonly since: number;
}

/** A value for each recent call, by the call's id. */
export class RecentCalls<T> {
  readonly #ttlMs: number;
  readonly #onForget: (value: T) => void;
  // All calls have the same time to live, so they expire in the order of insertion.
  readonly #byId = new Map<string, Recent<T>>();

  /**
   * @param owner the function that takes the options.
   * @param onForget gets the value of a call that has expired, or is over the limit.
   * @throws InvalidOption for an unknown or invalid option.
   */
  constructor(owner: string, options: ObserverOptions, onForget: (value: T) => void = () => {}) {
    requireOptions<ObserverOptions>(owner, options, { ttlSeconds: wholeSeconds() }, GONE_OPTIONS);
    this.#ttlMs = (options.ttlSeconds ?? 600) * 1000;
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
    if (this.#byId.size > MAX_CALLS) this.#forgetOldest();
  }

  forget(id: string): void {
    this.#byId.delete(id);
  }

  /** All calls, the oldest first. */
  values(): Iterable<Recent<T>> {
    return this.#byId.values();
  }

  forgetExpired(): void {
    const before = Date.now() - this.#ttlMs;
    for (const { since } of this.#byId.values()) {
      if (since > before) break;
      this.#forgetOldest();
    }
  }

  #forgetOldest() {
    const [id, { value }] = this.#byId.entries().next().value as [string, Recent<T>];
    this.#byId.delete(id);
    this.#onForget(value);
  }
}
