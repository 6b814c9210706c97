/** Who waits in this process for the next turn of a call. */
import type { TurnRecord } from './records.ts';

type Listener = (turn?: number, record?: TurnRecord) => void;

/** One wait. `heard` resolves with the turn, or with undefined when it is time to look into the database. */
export interface Wait {
  heard(withinMs?: number): Promise<TurnRecord | undefined>;
  stop(): void;
}

/** Tells those who wait for a call in this process. */
export class News {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Tells of a turn, or, without one, that something has changed. */
  tell(call: string, turn?: number, record?: TurnRecord): void {
    for (const listener of this.#listeners.get(call) ?? []) listener(turn, record);
  }

  /** Listens from now on, so that nothing is missed between looking into the database and waiting. */
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
      heard(withinMs) {
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
