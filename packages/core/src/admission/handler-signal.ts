/**
 * Follows the SDK's signal until the handler has ended. On 2026-07-28 the SDK also fires a request's signal after its
 * response: a listener that undoes a payment would then undo a completed one.
 */
export class HandlerSignal {
  readonly #sdkSignal: AbortSignal;
  readonly #abort = () => this.#controller?.abort(this.#sdkSignal.reason);
  #controller: AbortController | undefined;
  /** Whether the SDK's signal had fired when the handler ended. */
  #abortedAtEnd: boolean | undefined;

  constructor(sdkSignal: AbortSignal) {
    this.#sdkSignal = sdkSignal;
  }

  /** Fires when the request is cancelled while its handler runs. Created on first read: few handlers read it. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#abortedAtEnd ?? this.#sdkSignal.aborted) this.#abort();
      else if (this.#abortedAtEnd === undefined)
        this.#sdkSignal.addEventListener('abort', this.#abort, { once: true });
    }
    return this.#controller.signal;
  }

  /** Stops following: the handler has ended. */
  end() {
    this.#abortedAtEnd = this.#sdkSignal.aborted;
    if (this.#controller) this.#sdkSignal.removeEventListener('abort', this.#abort);
  }
}
