/**
 * Handlers that keep running after their call has ended: a `finally` that hangs, a step that never returns. Nobody can stop
 * them. So the store counts them apart from open calls, and reports them. A handler counts until it has ended; a loop that
 * catches every refusal and asks again ends by itself (see `frame.ts`). A loop that does not wait for its question goes on.
 * It is counted from the moment when that shows, also beyond the limit, since its call's place is gone. Then no other
 * handler of the store is taken for ended before it has really settled, so that no more of them can pass the limit.
 *
 * Nothing here holds a reference to a handler, so the memory of one that waits for ever without other references is
 * freed. Its place is not: no limit may depend on when the garbage collector runs.
 */
import { OperatorWarning } from '@mrtr/core/events';
import { type AbandonedLimits, AbandonedQuota, type LoggedCall, withCallInMessage } from '@mrtr/core/kit';
import type { Frame, Overseer } from './frame.ts';

/** How long a handler may take to end before it is reported, and how long `close` waits for it; in milliseconds. */
const LET_END_MS = 10_000;

type GiveBack = () => void;

/** The abandoned handlers of one store. */
export class Abandoned implements Overseer {
  /** Until the first handler is seen to go on. */
  trustsStops = true;
  readonly #quota: AbandonedQuota;
  readonly #report: (error: Error) => void;
  readonly #open = new Set<GiveBack>();
  #allEnded: (() => void) | undefined;

  constructor(limits: Required<AbandonedLimits>, report: (error: Error) => void) {
    this.#quota = new AbandonedQuota(limits, report);
    this.#report = report;
  }

  /**
   * Counts `frame` until its handler has ended. `giveBack` returns the room of its call: it is called at once, or, above
   * the limit of abandoned handlers, when the handler ends. It must not hold the frame.
   */
  take(frame: Frame, giveBack: GiveBack): void {
    const { about, pseudonym } = frame;
    const hasRoom = this.#quota.take(pseudonym) === undefined;
    if (hasRoom) giveBack();
    const end = this.#trackOpen(hasRoom ? () => this.#quota.giveBack(pseudonym) : giveBack);
    frame.whenSettled(this.#reportIfLate(about, end));
  }

  /** Counts a handler again that had counted as ended. */
  takeBack(frame: Frame): void {
    this.trustsStops = false;
    const { pseudonym } = frame;
    this.#quota.add(pseudonym);
    frame.whenEnded(this.#trackOpen(() => this.#quota.giveBack(pseudonym)));
  }

  /** Resolves when all have ended, or after {@link LET_END_MS}. */
  async waitForEnd(): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, LET_END_MS);
      this.#allEnded = () => {
        clearTimeout(late);
        resolve();
      };
    });
  }

  #trackOpen(giveBack: GiveBack): GiveBack {
    const end = () => {
      this.#open.delete(end);
      giveBack();
      if (this.#open.size === 0) this.#allEnded?.();
    };
    this.#open.add(end);
    return end;
  }

  /** Reports a handler of `call` that takes too long. Call the returned function when it has ended. */
  #reportIfLate(call: LoggedCall, end: GiveBack): () => void {
    const report = () =>
      this.#report(withCallInMessage(new OperatorWarning('handlers_abandoned', NOT_ENDED), call));
    const timer = setTimeout(report, LET_END_MS);
    timer.unref();
    return () => {
      clearTimeout(timer);
      end();
    };
  }
}

const NOT_ENDED =
  `The handler has not ended ${LET_END_MS / 1000} s after its call was over, and may hold memory. ` +
  'Make it stop waiting when ctx.signal fires, and ask nothing after that.';
