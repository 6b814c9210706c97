/** The time limit of a run. A server that answers each request just in time could otherwise hold it for hours. */
import { once, setMaxListeners } from 'node:events';
import { startSandbox } from '../sandbox.ts';
import { Undecided } from '../session/session.ts';
import { TestedInstances } from '../target/instance.ts';
import type { CompleteInputs } from '../target/target.ts';
import type { Patience } from '../wire/channel.ts';

/** The longest timer of Node, in milliseconds. A longer one fires at once. */
const MAX_MS = 2 ** 31 - 1;

/** The limits of a run and of each answer. */
export class Limit implements Patience {
  readonly #over = new AbortController();
  readonly over: AbortSignal = this.#over.signal;
  readonly timeoutMs: number;
  readonly #words: string;
  readonly #timer: NodeJS.Timeout;

  constructor(seconds: number, timeoutSeconds: number) {
    // Each request in flight adds a listener.
    setMaxListeners(0, this.over);
    this.timeoutMs = timeoutSeconds * 1000;
    this.#words = `the run reached its limit of ${seconds} s before this was decided (--max-time)`;
    this.#timer = setTimeout(() => this.#over.abort(), Math.min(seconds * 1000, MAX_MS));
  }

  /** Waits for `work`, at most until the run is over. @throws Undecided at the limit */
  async within<T>(work: () => Promise<T>): Promise<T> {
    if (this.over.aborted) throw new Undecided(this.#words);
    const done = new AbortController();
    // Listen before the work begins, so that work which the limit interrupts is not blamed on the server.
    const limit = once(this.over, 'abort', { signal: done.signal }).then(() => {
      throw new Undecided(this.#words);
    });
    return Promise.race([limit, work()]).finally(() => done.abort());
  }

  end() {
    clearTimeout(this.#timer);
    this.#over.abort();
  }
}

/** A started server, and the limits on its use. */
export interface Served {
  readonly fleet: TestedInstances;
  readonly limit: Limit;
}

/** Starts the server, lets `use` call it for at most `seconds`, and ends every process that was started. */
export async function withServer<T>(
  { address, timeoutSeconds }: Pick<CompleteInputs, 'address' | 'timeoutSeconds'>,
  seconds: number,
  use: (served: Served) => Promise<T>,
): Promise<T> {
  const limit = new Limit(seconds, timeoutSeconds);
  const fleet = new TestedInstances(address, limit);
  try {
    await Promise.all([fleet.first.start(), startSandbox()]);
    return await use({ fleet, limit });
  } finally {
    limit.end();
    await fleet.close();
  }
}
