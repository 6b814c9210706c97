/** Wakes the requests of this process that wait for the next turn of a call. */
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { TurnRecord } from './records.ts';

/** Notifies the requests of this process that wait for a call. */
export class TurnListeners {
  readonly #calls = new EventEmitter().setMaxListeners(0);

  /** Notifies of a turn; without a turn, only that something has changed. */
  notify(call: string, turn?: number, record?: TurnRecord): void {
    this.#calls.emit(call, turn, record);
  }

  /**
   * Starts listening now, so that no turn is missed between reading the database and waiting. `next` resolves with the
   * turn, or with undefined when it is time to look into the database.
   */
  listen(call: string, awaited: number) {
    const over = new AbortController();
    const told = once(this.#calls, call, over).then(([turn, record]) =>
      turn === awaited ? (record as TurnRecord) : undefined,
    );
    const next = (withinMs: number): Promise<TurnRecord | undefined> =>
      Promise.race([told, delay(withinMs, undefined, over)]).catch(() => undefined);
    told.catch(() => {});
    return { next, stop: () => over.abort() };
  }
}
