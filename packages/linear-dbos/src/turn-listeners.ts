/** Wakes the requests of this process that wait for the next turn of a call. */
import { EventEmitter } from 'node:events';
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
    let resolve: (record?: TurnRecord) => void = () => {};
    const told = new Promise<TurnRecord | undefined>((settle) => {
      resolve = settle;
    });
    const listener = (turn?: number, record?: TurnRecord) => resolve(turn === awaited ? record : undefined);
    this.#calls.on(call, listener);
    let timer: NodeJS.Timeout | undefined;
    return {
      next(withinMs: number): Promise<TurnRecord | undefined> {
        timer = setTimeout(resolve, withinMs);
        return told;
      },
      stop: () => {
        clearTimeout(timer);
        this.#calls.off(call, listener);
      },
    };
  }
}
