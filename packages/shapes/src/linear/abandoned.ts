/**
 * Handlers whose call is over and that have not ended: a `finally` that hangs, a step that never returns, a loop that
 * asks again whatever it is told. Nobody can stop them. So they are counted apart from the calls that are open, and
 * reported.
 *
 * Nothing here holds a handler. One that only waits for what never comes is garbage as soon as nobody else holds it, and
 * stops counting when the collector finds it.
 */
import { Quota } from '@mrtr/core/shape';
import type { Frame } from './frame.ts';

/** How long a handler may take to end, in milliseconds, before it is reported; and how long `close` waits for it. */
const LET_END_MS = 10_000;

type GiveBack = () => void;

/** What a call has taken of its store. Neither function may hold its frame. */
export interface Room {
  /** Gives back its place among the open calls. */
  readonly place: GiveBack;
  /** Gives back the memory of its arguments. */
  readonly memory: GiveBack;
}

/** The abandoned handlers of one store. */
export class Abandoned {
  readonly #quota: Quota;
  readonly #report: (error: Error) => void;
  readonly #collected = new FinalizationRegistry<GiveBack>((end) => end());
  readonly #open = new Set<GiveBack>();
  #allEnded: (() => void) | undefined;

  constructor(max: number, maxOwn: number, report: (error: Error) => void) {
    this.#quota = new Quota(max, maxOwn);
    this.#report = report;
  }

  /**
   * Counts `frame` until its handler has ended. The place of its call is given back at once, or, where too many are
   * abandoned already, in the end; the memory of its arguments in the end, because the handler may hold them.
   */
  take(frame: Frame, { place, memory }: Room): void {
    const { call, principal } = frame;
    const hasRoom = this.#quota.take(principal) === undefined;
    if (hasRoom) place();
    const end = this.#opened(memory, hasRoom ? () => this.#quota.give(principal) : place);
    frame.whenSettled(this.#reported(call, end));
    this.#collected.register(frame, end);
  }

  /** Resolves when all have ended, or the time to end is over. */
  async ended(): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, LET_END_MS);
      this.#allEnded = () => {
        clearTimeout(late);
        resolve();
      };
    });
  }

  #opened(...room: readonly GiveBack[]): GiveBack {
    const end = () => {
      if (!this.#open.delete(end)) return;
      for (const giveBack of room) giveBack();
      if (this.#open.size === 0) this.#allEnded?.();
    };
    this.#open.add(end);
    return end;
  }

  /** Reports a handler of `call` that takes too long. The returned function says that it has ended. */
  #reported(call: string, end: GiveBack): () => void {
    const timer = setTimeout(() => this.#report(new Error(notEnded(call))), LET_END_MS);
    timer.unref();
    return () => {
      clearTimeout(timer);
      end();
    };
  }
}

const notEnded = (call: string): string =>
  `The handler of call ${call} has not ended ${LET_END_MS / 1000} s after its call was over, and may hold memory. End ` +
  'what it waits for when ctx.signal fires, and ask nothing more then.';
