/** The signal that a handler sees. */

/**
 * Follows the SDK's signal until the handler has ended. The SDK closes the server of each request at 2026-07-28 after its
 * response, and fires the request's signal then: a listener that undoes a payment would undo one that was made.
 */
export class HandlerSignal {
  readonly #sdks: AbortSignal;
  readonly #abort = () => this.#controller?.abort(this.#sdks.reason);
  #controller: AbortController | undefined;
  /** How the SDK's signal was when the handler ended. */
  #atEnd: boolean | undefined;

  constructor(sdks: AbortSignal) {
    this.#sdks = sdks;
  }

  /** Fires when the request is cancelled while its handler runs. Made when it is first read: few handlers read it. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#atEnd ?? this.#sdks.aborted) this.#abort();
      else if (this.#atEnd === undefined) this.#sdks.addEventListener('abort', this.#abort, { once: true });
    }
    return this.#controller.signal;
  }

  /** The handler has ended. */
  end(): void {
    this.#atEnd = this.#sdks.aborted;
    this.#sdks.removeEventListener('abort', this.#abort);
  }
}
