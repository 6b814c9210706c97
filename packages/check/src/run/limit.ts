/** The time limit of a run. A server that answers each request just in time could otherwise hold it for hours. */
import { once, setMaxListeners } from 'node:events';
import { Undecided } from '../judging/undecided.ts';
import { startSandbox } from '../sandbox.ts';
import { TestedInstances } from '../target/instance.ts';
import type { Inputs } from '../target/target.ts';
import type { Patience } from '../wire/channel.ts';

/** The longest timer of Node, in milliseconds. A longer one fires at once. */
const MAX_MS = 2 ** 31 - 1;

export class Limit {
  readonly #over = new AbortController();
  readonly #words: string;
  readonly #timer: NodeJS.Timeout;

  constructor(seconds: number) {
    // Each request in flight adds a listener.
    setMaxListeners(0, this.#over.signal);
    this.#words = `the run reached its limit of ${seconds} s before this was decided (--max-time)`;
    this.#timer = setTimeout(() => this.#over.abort(), Math.min(seconds * 1000, MAX_MS));
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Waits for `work`, at most until the run is over. @throws Undecided at the limit */
  async within<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this.#over;
    if (signal.aborted) throw new Undecided(this.#words);
    const done = new AbortController();
    // Listen before the work begins, so that work which the limit interrupts is not blamed on the server.
    const limit = once(signal, 'abort', { signal: done.signal }).then(() => {
      throw new Undecided(this.#words);
    });
    return Promise.race([limit, work()]).finally(() => done.abort());
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#over.abort();
  }
}

/** A started server, and the limits on its use. */
export interface Served {
  readonly fleet: TestedInstances;
  readonly patience: Patience;
  readonly limit: Limit;
}

/** Starts the server, lets `use` call it for at most `seconds`, and ends every process that was started. */
export async function withServer<T>(
  { address, timeoutSeconds }: Pick<Inputs, 'address' | 'timeoutSeconds'>,
  seconds: number,
  use: (served: Served) => Promise<T>,
): Promise<T> {
  const limit = new Limit(seconds);
  const patience = { timeoutMs: timeoutSeconds * 1000, over: limit.over };
  const fleet = new TestedInstances(address, patience);
  try {
    await Promise.all([fleet.first.start(), startSandbox()]);
    return await use({ fleet, patience, limit });
  } finally {
    limit.end();
    await fleet.close();
  }
}
