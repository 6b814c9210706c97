/**
 * Lists requests with a running handler. It finds a handler that hangs in round 1, which has no log line and no lease.
 */
import { requireArgument, wholeNumber } from '../options.ts';
import { observe, type RoundEvent } from './events.ts';

/** A request with a running handler. */
interface RunningCall extends Pick<RoundEvent, 'call' | 'method' | 'target' | 'round'> {
  readonly since: Date;
  /** The caller's pseudonym; undefined for an anonymous caller. */
  readonly pseudonym: string | undefined;
}

/**
 * Follows the calls of every protected server in this process. It keeps no arguments. A call that waits for its user is
 * not running. A request that is served twice at once is listed once, until both have ended.
 *
 * @param most the most requests to list; later ones are left out.
 * @throws InvalidOption for a number that is not whole, or below 1.
 * @returns `list` gives the running requests, the oldest first; `stop` stops following.
 * @example
 * const running = watchRunningCalls(); // when the process starts
 * process.on('SIGUSR2', () => console.error(running.list()));
 */
export function watchRunningCalls(most = 10_000): {
  readonly list: () => readonly RunningCall[];
  readonly stop: () => void;
} {
  requireArgument('watchRunningCalls', 'most', most, wholeNumber());
  const running = new Map<string, { readonly one: RunningCall; times: number }>();
  const stop = observe('mrtr:round', ({ phase, call, method, target, round, pseudonym }) => {
    const key = `${call} ${round}`;
    const known = running.get(key);
    if (known) known.times += phase === 'start' ? 1 : -1;
    else if (phase === 'start' && running.size < most)
      running.set(key, { one: { call, method, target, round, since: new Date(), pseudonym }, times: 1 });
    if (known?.times === 0) running.delete(key);
  });
  return { list: () => [...running.values()].map(({ one }) => one), stop };
}
