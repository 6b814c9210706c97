/**
 * Abandoned handlers keep running after their call has ended: a `finally` hangs, or a step never returns. Nothing can
 * stop them, so the store counts them apart from open calls, and reports them. A handler counts until it has ended. A
 * loop that catches every rejection and asks again is stopped (see `frame.ts`). A loop that does not wait for its
 * question cannot be stopped: the store counts it when it asks again, even above the limit, because its call's place is
 * already given back. From then on a handler of this store counts as ended only when it has really settled, so no other
 * one can pass the limit.
 *
 * Nothing here references a handler, so one that waits for ever can be garbage-collected. It keeps its place all the
 * same: no limit may depend on the garbage collector.
 */
import { OperatorWarning } from '@mrtr/core/events';
import { AbandonedQuota, withCallInMessage } from '@mrtr/core/internal';
import type { Frame, Overseer } from './frame.ts';

/** The time for a handler to end before it is reported, and the longest wait of `close`; in milliseconds. */
const LET_END_MS = 10_000;

type GiveBack = () => void;

/** The abandoned handlers of one store. */
export class Abandoned implements Overseer {
  /** True until the first handler continues after it counted as ended. */
  trustsStops = true;
  readonly #quota: AbandonedQuota;
  readonly #report: (error: Error) => void;
  readonly #open = new Set<GiveBack>();
  #allEnded: (() => void) | undefined;

  constructor(most: number, mostOfOne: number, report: (error: Error) => void) {
    this.#quota = new AbandonedQuota(most, mostOfOne, report);
    this.#report = report;
  }

  /**
   * Counts `frame` until its handler has ended. `giveBack` returns the room of its call: it is called at once, or,
   * above the limit of abandoned handlers, when the handler ends. It must not reference the frame.
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
  #reportIfLate(call: Frame['about'], end: GiveBack) {
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
