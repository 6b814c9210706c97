import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { TurnRecord } from './records.ts';

/** Wakes the requests of this process that wait for the next turn of a call. */
export class TurnListeners {
  readonly #calls = new EventEmitter().setMaxListeners(0);

  /** Publishes a turn. Without a turn, says that the database has a change. */
  notify(call: string, turn?: number, record?: TurnRecord) {
    this.#calls.emit(call, turn, record);
  }

  /**
   * Starts to listen at once, so that no turn is missed between reading the database and waiting. `next` resolves with
   * the turn, or with undefined when it is time to read the database.
   */
  listen(call: string, awaited: number) {
    const over = new AbortController();
    const notified = once(this.#calls, call, over).then(([turn, record]) =>
      turn === awaited ? (record as TurnRecord) : undefined,
    );
    const next = (withinMs: number): Promise<TurnRecord | undefined> =>
      Promise.race([notified, delay(withinMs, undefined, over)]).catch(() => undefined);
    notified.catch(() => {});
    return { next, stop: () => over.abort() };
  }
}
