import type { AbandonedQuota, QuotaSlot } from '@mrtr/core/kit';
import { awaitHandler } from '@mrtr/core/shape';

const calls = new WeakMap<Request, CountedRequest>();

/** The place and the bytes of a call. */
interface Room {
  readonly place: QuotaSlot;
  readonly bytes: QuotaSlot;
}

/**
 * A call holds a place and the bytes of its body until it is answered and its handler has ended. A cancelled call gives
 * them back earlier: its handler then counts as abandoned, under a limit of its own.
 */
export class CountedRequest {
  readonly #request: Request;
  readonly #room: Room;
  readonly #abandoned: AbandonedQuota | undefined;
  #over: Promise<void> | undefined;

  constructor(request: Request, room: Room, abandoned: AbandonedQuota | undefined) {
    this.#request = request;
    this.#room = room;
    this.#abandoned = abandoned;
    calls.set(request, this);
  }

  /** The call of `request`. Undefined for notifications and answers, which do not count. */
  static of(request: Request): CountedRequest | undefined {
    return calls.get(request);
  }

  /** Keeps the call open until `over`, even if its response ends first because its client hung up. */
  lastUntil(over: Promise<void>): void {
    this.#over = over;
  }

  /** Cancels the call when its client hangs up. */
  cancelOnHangUp(): void {
    const { signal } = this.#request;
    if (signal.aborted) this.cancel();
    else signal.addEventListener('abort', () => this.cancel(), { once: true });
  }

  /**
   * Cancels the call. A handler that obeys its signal ends within this turn of the event loop. In the next turn, a handler
   * that still runs counts as abandoned. If there are too many abandoned handlers, the call keeps its place until its
   * handler ends.
   */
  cancel(): void {
    const abandoned = this.#abandoned;
    if (!abandoned) return;
    setImmediate(() => {
      const { place, bytes } = this.#room;
      if (place.moveTo(abandoned)) bytes.giveBack();
    });
  }

  /** Gives the place back when `answered` has settled, the call is over, and its handler has ended. */
  async endAfter(answered: Promise<unknown>): Promise<void> {
    await answered;
    await this.#over;
    await awaitHandler(this.#request);
    this.#room.place.giveBack();
    this.#room.bytes.giveBack();
  }
}
