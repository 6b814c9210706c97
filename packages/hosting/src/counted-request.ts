import type { AbandonedQuota, QuotaSlot } from '@mrtr/core/internal';
import { awaitHandler } from '@mrtr/core/shape';

const calls = new WeakMap<Request, ReturnType<typeof countRequest>>();

/** The call of `request`. Undefined for notifications and answers, which do not count. */
export const countedCallOf = (request: Request) => calls.get(request);

/**
 * A call holds a place and the bytes of its body until it is answered and its handler has ended. A cancelled call gives
 * them back earlier: its handler then counts as abandoned, under a limit of its own.
 */
export function countRequest(
  request: Request,
  place: QuotaSlot,
  bytes: QuotaSlot,
  abandoned: AbandonedQuota | undefined,
) {
  let isOver: Promise<void> | undefined;

  /**
   * Cancels the call. A handler that obeys its signal ends within this turn of the event loop. In the next turn, a handler
   * that still runs counts as abandoned. If there are too many abandoned handlers, the call keeps its place until its
   * handler ends.
   */
  function cancel(): void {
    if (!abandoned) return;
    setImmediate(() => {
      if (place.moveTo(abandoned)) bytes.giveBack();
    });
  }

  const call = {
    cancel,

    /** Keeps the call open until `over`, even if its response ends first because its client hung up. */
    lastUntil(over: Promise<void>): void {
      isOver = over;
    },

    /** Cancels the call when its client hangs up. */
    cancelOnHangUp(): void {
      const { signal } = request;
      if (signal.aborted) cancel();
      else signal.addEventListener('abort', cancel, { once: true });
    },

    /** Gives the place back when `answered` has settled, the call is over, and its handler has ended. */
    async endAfter(answered: Promise<unknown>): Promise<void> {
      await answered;
      await isOver;
      await awaitHandler(request);
      place.giveBack();
      bytes.giveBack();
    },
  };
  calls.set(request, call);
  return call;
}
