/**
 * The calls of this instance that do not run here any more and are not over. Others see that their owner lives, and no
 * request may wait for them here, so the table has to say that they are free.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Runtime } from './runtime.ts';

const AGAIN_MS = 1000;

/** What a store gives. */
export interface Owner {
  readonly instance: string;
  readonly takeOverMs: number;
  readonly runtime: Pick<Runtime, 'calls' | 'presence'>;
  /** Whether the call runs here, again or still. */
  runs(id: string): boolean;
  report(error: Error): void;
  /** The table says that the call is free. */
  released(id: string): void;
}

/** Frees calls in the table, each when nothing of it runs here. */
export class LettingGo {
  readonly #owner: Owner;
  /** Calls whose handlers were refused every further step, until they have ended or had their time. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #releasing = new Map<string, Promise<void>>();
  #closed = false;

  constructor(owner: Owner) {
    this.#owner = owner;
  }

  /** Frees a call when its handler has `ended`, or has had the time after which others would take over. */
  when(ended: Promise<void>, id: string): void {
    const late = delay(this.#owner.takeOverMs, undefined, { ref: false });
    const ending = Promise.race([ended, late]).then(() => {
      if (this.#ending.get(id) === ending) this.#ending.delete(id);
      this.now(id);
    });
    this.#ending.set(id, ending);
  }

  /** Frees a call, unless it runs here. */
  now(id: string): void {
    if (this.#owner.runs(id) || this.#releasing.has(id)) return;
    const releasing = this.#release(id).finally(() => {
      this.#releasing.delete(id);
      this.#owner.released(id);
    });
    this.#releasing.set(id, releasing);
  }

  /** Resolves when nothing of the call is on its way out here. */
  async waitUntilSettled(id: string): Promise<void> {
    await this.#ending.get(id);
    await this.#releasing.get(id);
  }

  close(): void {
    this.#closed = true;
  }

  async #release(id: string): Promise<void> {
    while (!this.#closed) {
      try {
        await this.#owner.runtime.presence.certain();
        return await this.#owner.runtime.calls.release([id], this.#owner.instance);
      } catch (error) {
        this.#owner.report(error as Error);
        await delay(AGAIN_MS, undefined, { ref: false });
      }
    }
  }
}
