/** Wakes the requests of this process that wait for the next turn of a call. */
import type { TurnRecord } from './records.ts';

type Listener = (turn?: number, record?: TurnRecord) => void;

/** One wait. `heard` resolves with the turn, or with undefined when it is time to look into the database. */
export interface Wait {
  next(withinMs?: number): Promise<TurnRecord | undefined>;
  stop(): void;
}

/** Notifies the requests of this process that wait for a call. */
export class TurnListeners {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Notifies of a turn; without a turn, only that something has changed. */
  notify(call: string, turn?: number, record?: TurnRecord): void {
    for (const listener of this.#listeners.get(call) ?? []) listener(turn, record);
  }

  /** Starts listening now, so that no turn is missed between reading the database and waiting. */
  listen(call: string, awaited: number): Wait {
    const listeners = this.#listeners.get(call) ?? new Set();
    this.#listeners.set(call, listeners);
    let resolve: (record: TurnRecord | undefined) => void = () => {};
    const told = new Promise<TurnRecord | undefined>((settle) => {
      resolve = settle;
    });
    const listener: Listener = (turn, record) => resolve(turn === awaited ? record : undefined);
    listeners.add(listener);
    let timer: NodeJS.Timeout | undefined;
    return {
      next(withinMs) {
        if (withinMs !== undefined) timer = setTimeout(() => resolve(undefined), withinMs);
        return told;
      },
      stop: () => {
        clearTimeout(timer);
        listeners.delete(listener);
        if (listeners.size === 0) this.#listeners.delete(call);
      },
    };
  }
}
