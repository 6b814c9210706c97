/** A request that is counted, and what ends its place among the running calls. */
import type { AbandonedQuota, Place } from '@mrtr/core/kit';
import { awaitHandler } from '@mrtr/core/shape';

const calls = new WeakMap<Request, CountedRequest>();

/** The room that a call has taken. */
interface Room {
  readonly place: Place;
  readonly bytes: Place;
}

/**
 * A call holds a place and the bytes of its body until it is answered and its handler has ended. A cancelled call gives
 * them back before that: its handler moves to the abandoned ones, which have a limit of their own.
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

  /** The call that `request` made. Undefined for notifications and answers, which are not counted. */
  static of(request: Request): CountedRequest | undefined {
    return calls.get(request);
  }

  /** The call is not over before `over`, although its response may have ended: its client may have hung up. */
  lastUntil(over: Promise<void>): void {
    this.#over = over;
  }

  /** A client that hangs up cancels the call. */
  cancelOnHangUp(): void {
    const { signal } = this.#request;
    if (signal.aborted) this.cancel();
    else signal.addEventListener('abort', () => this.cancel(), { once: true });
  }

  /**
   * The call is cancelled. In the next turn of the event loop, when a handler that obeys its signal has ended, the
   * handler is counted as abandoned. Where there is no room among the abandoned handlers, the call keeps its place until
   * its handler ends.
   */
  cancel(): void {
    const abandoned = this.#abandoned;
    if (!abandoned) return;
    setImmediate(() => {
      const { place, bytes } = this.#room;
      if (place.moveTo(abandoned)) bytes.giveBack();
    });
  }

  /** Gives everything back when `answered` has settled, and the call is over, and its handler has ended. */
  async endAfter(answered: Promise<unknown>): Promise<void> {
    await answered;
    await this.#over;
    await awaitHandler(this.#request);
    this.#room.place.giveBack();
    this.#room.bytes.giveBack();
  }
}
