/** Deletes abandoned calls on its own timer: a few at a time, and on one instance at a time. */
import type { Runtime } from './runtime.ts';

const AT_ONCE = 500;
const AGAIN_SOON_MS = 100;

/** The sweeping of one store. It never keeps the process alive. */
export class Sweep {
  readonly #runtime: Runtime;
  readonly #everyMs: number;
  readonly #report: (error: Error) => void;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(runtime: Runtime, everySeconds: number, report: (error: Error) => void) {
    this.#runtime = runtime;
    this.#everyMs = everySeconds * 1000;
    this.#report = report;
    this.#schedule(this.#everyMs);
  }

  /** Stops, after the current deletion has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(ms: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#pass().then(
        (full) => this.#schedule(full ? AGAIN_SOON_MS : this.#everyMs),
        (error: Error) => {
          this.#report(error);
          this.#schedule(this.#everyMs);
        },
      );
    }, ms);
    this.#timer.unref();
  }

  /** Returns whether there may be more to delete. */
  async #pass(): Promise<boolean> {
    const ids = await this.#runtime.calls.findExpired(AT_ONCE);
    if (ids.length > 0) await this.#runtime.remove(ids);
    if (ids.length < AT_ONCE) await this.#runtime.removeQueues();
    return ids.length === AT_ONCE;
  }
}
