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

/** Counts the abandoned handlers of one store: at most `most`, and of one principal its share. */
export function countAbandoned(most: number, share: number, report: (error: Error) => void) {
  const quota = new AbandonedQuota(most, share, report);
  const open = new Set<GiveBack>();
  let allEnded: (() => void) | undefined;

  function trackOpen(giveBack: GiveBack) {
    const end = () => {
      open.delete(end);
      giveBack();
      if (open.size === 0) allEnded?.();
    };
    open.add(end);
    return end;
  }

  /** Reports a handler of `call` that takes too long. Call the returned function when it has ended. */
  function reportIfLate(call: Frame['about'], end: GiveBack) {
    const warn = () => report(withCallInMessage(new OperatorWarning('handlers_abandoned', NOT_ENDED), call));
    const timer = setTimeout(warn, LET_END_MS).unref();
    return () => {
      clearTimeout(timer);
      end();
    };
  }

  const overseer: Overseer = {
    trustsStops: true,
    takeBack(frame) {
      overseer.trustsStops = false;
      const { pseudonym } = frame;
      quota.add(pseudonym);
      frame.whenEnded(trackOpen(() => quota.giveBack(pseudonym)));
    },
  };

  return {
    overseer,

    /**
     * Counts `frame` until its handler has ended. `giveBack` returns the room of its call: it is called at once, or,
     * above the limit of abandoned handlers, when the handler ends. It must not reference the frame.
     */
    take(frame: Frame, giveBack: GiveBack) {
      const { about, pseudonym } = frame;
      const hasRoom = quota.take(pseudonym) === undefined;
      if (hasRoom) giveBack();
      frame.whenSettled(reportIfLate(about, trackOpen(hasRoom ? () => quota.giveBack(pseudonym) : giveBack)));
    },

    /** Resolves when all have ended, or after {@link LET_END_MS}. */
    async waitForEnd() {
      if (open.size === 0) return;
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, LET_END_MS);
        allEnded = () => {
          clearTimeout(late);
          resolve();
        };
      });
    },
  };
}

export type Abandoned = ReturnType<typeof countAbandoned>;

const NOT_ENDED =
  `The handler has not ended ${LET_END_MS / 1000} s after its call was over, and may hold memory. ` +
  'Make it stop waiting when ctx.signal fires, and ask nothing after that.';
