/**
 * Calls this live instance has abandoned. Releases them in the table, so that another instance may resume them: it would
 * leave the calls of a live owner alone.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Runtime } from './runtime.ts';

const AGAIN_MS = 1000;

/** The store that abandons the calls. */
export interface ReleasingStore {
  readonly instance: string;
  readonly takeOverMs: number;
  readonly runtime: Pick<Runtime, 'calls' | 'presence'>;
  /** Whether the call runs here, again or still. */
  runs(id: string): boolean;
  report(error: Error): void;
  /** Called when a release ends. */
  released(id: string): void;
}

/** Releases each call once its handler no longer runs here. */
export class ReleaseQueue {
  readonly #store: ReleasingStore;
  /** Calls whose abandoned handlers still run, until they end or their time is over. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #releasing = new Map<string, Promise<void>>();
  #closed = false;

  constructor(store: ReleasingStore) {
    this.#store = store;
  }

  /** Releases a call when its handler has `ended`, at the latest after `takeOverMs`. */
  releaseAfter(ended: Promise<void>, id: string): void {
    const late = delay(this.#store.takeOverMs, undefined, { ref: false });
    const ending = Promise.race([ended, late]).then(() => {
      if (this.#ending.get(id) === ending) this.#ending.delete(id);
      this.release(id);
    });
    this.#ending.set(id, ending);
  }

  /** Releases a call, unless it runs here. */
  release(id: string): void {
    if (this.#store.runs(id) || this.#releasing.has(id)) return;
    const releasing = this.#release(id).finally(() => {
      this.#releasing.delete(id);
      this.#store.released(id);
    });
    this.#releasing.set(id, releasing);
  }

  /** Resolves when no abandoned handler of the call runs here, and no release of it is under way. */
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
        await this.#store.runtime.presence.ensureHeld();
        return await this.#store.runtime.calls.release([id], this.#store.instance);
      } catch (error) {
        this.#store.report(error as Error);
        await delay(AGAIN_MS, undefined, { ref: false });
      }
    }
  }
}
