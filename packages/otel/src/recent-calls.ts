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

/**
 * A value for each recent call, by the call's id.
 *
 * @param owner the function that takes the options.
 * @param onForget gets the value of a call that has expired, or is over the limit.
 * @throws InvalidOption for an unknown or invalid option.
 */
export function recentCalls<T>(
  owner: string,
  options: ObserverOptions,
  onForget: (value: T) => void = () => {},
) {
  requireOptions<ObserverOptions>(owner, options, { ttlSeconds: wholeSeconds() }, GONE_OPTIONS);
  const ttlMs = (options.ttlSeconds ?? 600) * 1000;
  // All calls have the same time to live, so they expire in the order of insertion.
  const byId = new Map<string, { readonly value: T; readonly since: number }>();

  function forgetOldest() {
    for (const [id, { value }] of byId) {
      byId.delete(id);
      return onForget(value);
    }
  }

  return {
    size: () => byId.size,
    find: (id: string) => byId.get(id)?.value,
    remember(id: string, value: T) {
      // Move it behind all others, which expire earlier.
      byId.delete(id);
      byId.set(id, { value, since: Date.now() });
      if (byId.size > MAX_CALLS) forgetOldest();
    },
    forget: (id: string) => void byId.delete(id),
    /** All calls, the oldest first. */
    values: () => byId.values(),
    forgetExpired() {
      const before = Date.now() - ttlMs;
      for (const { since } of byId.values()) {
        if (since > before) break;
        forgetOldest();
      }
    },
  };
}
