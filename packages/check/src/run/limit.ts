/** The time limit of a run. A server that answers each request just in time could otherwise hold it for hours. */
import { once, setMaxListeners } from 'node:events';
import { Undecided } from '../judging/undecided.ts';

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
