/** Lists the requests whose handlers run now: a handler that hangs in round 1 has no log line and no lease. */
import { requireOptions, wholeNumber } from '../support/options.ts';
import { observe } from './diagnostics.ts';

/** A request whose handler runs. */
export interface RunningCall {
  /** The call's id. */
  readonly call: string;
  readonly method: string;
  readonly target: string;
  /** 1 for the first request. */
  readonly round: number;
  readonly since: Date;
  /** The caller's pseudonym; undefined for an anonymous caller. */
  readonly pseudonym: string | undefined;
}

/** The options of {@link watchRunningCalls}. */
export interface WatchOptions {
  /** Requests that are listed; above this limit, a new one is not. Default 10 000. */
  readonly maxCalls?: number;
}

/**
 * Starts to follow the calls of every protected server in this process. It holds no arguments, and a call that waits for
 * its user does not run. A request that is served twice at once is listed once, until both have ended.
 *
 * @returns `list`: what runs now, the oldest first; `stop` ends it.
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
