/** The time limit of a run. A server that answers each request just in time could otherwise hold it for hours. */
import { once, setMaxListeners } from 'node:events';
import { startSandbox } from '../sandbox.ts';
import { Undecided } from '../session/session.ts';
import { createInstances, type TestedInstances } from '../target/instance.ts';
import type { CompleteInputs } from '../target/target.ts';
import type { Patience } from '../wire/channel.ts';

/** The longest timer of Node, in milliseconds. A longer one fires at once. */
const MAX_MS = 2 ** 31 - 1;

/** The limits of a run and of each answer. */
function startLimit(seconds: number, timeoutSeconds: number): Served['limit'] {
  const ending = new AbortController();
  const over = ending.signal;
  // Each request in flight adds a listener.
  setMaxListeners(0, over);
  const words = `the run reached its limit of ${seconds} s before this was decided (--max-time)`;
  const timer = setTimeout(() => ending.abort(), Math.min(seconds * 1000, MAX_MS));
  return {
    timeoutMs: timeoutSeconds * 1000,
    over,
    /** Waits for `work`, at most until the run is over. @throws Undecided at the limit */
    async within(work) {
      if (over.aborted) throw new Undecided(words);
      const done = new AbortController();
      // Listen before the work begins, so that work which the limit interrupts is not blamed on the server.
      const limit = once(over, 'abort', { signal: done.signal }).then(() => {
        throw new Undecided(words);
      });
      return Promise.race([limit, work()]).finally(() => done.abort());
    },
    end() {
      clearTimeout(timer);
      ending.abort();
    },
  };
}

/** A started server, and the limits on its use. */
export interface Served {
  readonly fleet: TestedInstances;
  readonly limit: Patience & { within<T>(work: () => Promise<T>): Promise<T>; end(): void };
}

/** Starts the server, lets `use` call it for at most `seconds`, and ends every process that was started. */
export async function withServer<T>(
  { address, timeoutSeconds }: Pick<CompleteInputs, 'address' | 'timeoutSeconds'>,
  seconds: number,
  use: (served: Served) => Promise<T>,
) {
  const limit = startLimit(seconds, timeoutSeconds);
  const fleet = createInstances(address, limit);
  try {
    await Promise.all([fleet.first.start(), startSandbox()]);
    return await use({ fleet, limit });
  } finally {
    limit.end();
    await fleet.close();
  }
}
