/**
 * Lists requests with a running handler. It finds a handler that hangs in round 1, which has no log line and no lease.
 */
import { requireOptions, wholeNumber } from '../options.ts';
import { observe, type RoundEvent } from './events.ts';

/** A request with a running handler. */
export interface RunningCall extends Pick<RoundEvent, 'call' | 'method' | 'target' | 'round'> {
  readonly since: Date;
  /** The caller's pseudonym; undefined for an anonymous caller. */
  readonly pseudonym: string | undefined;
}

/** The options of {@link watchRunningCalls}. */
export interface WatchOptions {
  /** The most requests to list; later ones are left out. Default 10 000. */
  readonly maxCalls?: number;
}

/**
 * Follows the calls of every protected server in this process. It keeps no arguments. A call that waits for its user is
 * not running. A request that is served twice at once is listed once, until both have ended.
 *
 * @returns `list` gives the running requests, the oldest first; `stop` stops following.
 * @throws InvalidOption for an option that does not exist, or has a value that it cannot have.
 * @example
 * const running = watchRunningCalls(); // when the process starts
 * process.on('SIGUSR2', () => console.error(running.list()));
 */
export function watchRunningCalls(options: WatchOptions = {}): {
  readonly list: () => readonly RunningCall[];
  readonly stop: () => void;
} {
  requireOptions('watchRunningCalls', options, { maxCalls: wholeNumber() });
  const { maxCalls = 10_000 } = options;
  const running = new Map<string, { readonly one: RunningCall; times: number }>();
  const stop = observe('mrtr:round', ({ phase, call, method, target, round, pseudonym }) => {
    const key = `${call} ${round}`;
    const known = running.get(key);
    if (known) known.times += phase === 'start' ? 1 : -1;
    else if (phase === 'start' && running.size < maxCalls)
      running.set(key, { one: { call, method, target, round, since: new Date(), pseudonym }, times: 1 });
    if (known?.times === 0) running.delete(key);
  });
  return { list: () => [...running.values()].map(({ one }) => one), stop };
}
