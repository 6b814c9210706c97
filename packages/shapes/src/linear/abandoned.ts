/**
 * Handlers that keep running after their call has ended: a `finally` that hangs, a step that never returns, a loop that
 * catches every refusal and asks again. Nobody can stop them. So the store counts them apart from open calls, and
 * reports them.
 *
 * Nothing here holds a reference to a handler. A handler that waits for ever without other references is garbage, and
 * stops counting when the collector finds it.
 */
import { Quota } from '@mrtr/core/shape';
import type { Frame } from './frame.ts';

/** How long a handler may take to end before it is reported, and how long `close` waits for it; in milliseconds. */
const LET_END_MS = 10_000;

type GiveBack = () => void;

/** The room that a call has taken in its store. Neither function may hold the call's frame. */
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
   * Counts `frame` until its handler has ended. Gives back the place of its call at once, or, above the limit of
   * abandoned handlers, when the handler ends. The memory of its arguments is given back when the handler ends, because
   * the handler may hold them.
   */
  take(frame: Frame, { place, memory }: Room): void {
    const { call, principal } = frame;
    const hasRoom = this.#quota.take(principal) === undefined;
    if (hasRoom) place();
    const end = this.#opened(memory, hasRoom ? () => this.#quota.give(principal) : place);
    frame.whenSettled(this.#reported(call, end));
    this.#collected.register(frame, end);
  }

  /** Resolves when all have ended, or after {@link LET_END_MS}. */
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

  /** Reports a handler of `call` that takes too long. Call the returned function when it has ended. */
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
  `The handler of call ${call} has not ended ${LET_END_MS / 1000} s after its call was over, and may hold memory. ` +
  'Make it stop waiting when ctx.signal fires, and ask nothing after that.';
