/**
 * Limits the unread bytes of streams. The SDK sends changes to a subscription, and a handler sends progress, even if the
 * client does not read. Without a limit, a client that opens streams and does not read them would fill the memory.
 */
import { OperatorWarning, publish } from '@mrtr/core/events';
import { addGauge, type OptionChecks, Quota, wholeNumbers, withDefaults } from '@mrtr/core/kit';
import type { Outgoing } from '../admission/exchange.ts';

import type { OnError } from '../instance/server-instance.ts';

/**
 * Bounds on unread bytes. If a stream exceeds a bound when its next message comes, it has 200 ms to drain below it. Then it
 * is ended with its connection. So one message may be larger than a bound.
 */
export interface UnreadLimits {
  /** Bytes of one stream. Default 1 MiB. */
  readonly maxUnreadBytesPerStream?: number;
  /** Bytes of all streams. Default 64 MiB. */
  readonly maxUnreadBytes?: number;
  /** The same of one principal. Default 8 MiB; anonymous callers share `maxUnreadBytes`. */
  readonly maxUnreadBytesPerPrincipal?: number;
}

export const UNREAD_DEFAULTS = {
  maxUnreadBytesPerStream: 1_048_576,
  maxUnreadBytes: 67_108_864,
  maxUnreadBytesPerPrincipal: 8_388_608,
};

export const UNREAD_CHECKS: OptionChecks<UnreadLimits> = wholeNumbers(UNREAD_DEFAULTS);

/** How long a full stream may take to drain. */
const PATIENCE_MS = 200;
const LOOK_MS = 10;

/** Counts the unread bytes of one hosting's streams. */
export class UnreadBytes {
  readonly #limits: Required<UnreadLimits>;
  readonly #held = new Quota(Number.POSITIVE_INFINITY);
  readonly #report: OnError;
  #streams = 0;

  constructor(options: UnreadLimits, report: OnError) {
    this.#limits = withDefaults(options, UNREAD_DEFAULTS);
    this.#report = report;
    addGauge('streams', this, (unread) => unread.#streams);
    addGauge('streams.unread_bytes', this, (unread) => unread.#held.total);
  }

  /** Returns the response, whose stream now ends when too many of its bytes are unread. */
  bound(response: Response, outgoing: Outgoing, principal: string | undefined): Response {
    const { body, headers } = response;
    if (!body || !headers.get('content-type')?.startsWith('text/event-stream')) return response;
    const stream = new CountedStream(body, outgoing, this.#limits.maxUnreadBytesPerStream);
    const note = () => {
      const before = stream.held;
      const held = stream.measure();
      // Use `giveBack` for less: it also forgets a principal who holds nothing.
      if (held > before) this.#held.add(principal, held - before);
      else this.#held.giveBack(principal, before - held);
    };
    const isFull = () => {
      note();
      return this.#isFull(stream.held, principal);
    };
    stream.onChange = note;
    this.#streams++;
    outgoing.once('close', () => {
      this.#streams--;
      stream.end();
    });
    return new Response(stream.forward(isFull, this.#report), response);
  }

  #isFull(held: number, principal: string | undefined): boolean {
    const { maxUnreadBytesPerStream, maxUnreadBytes, maxUnreadBytesPerPrincipal } = this.#limits;
    return (
      held > maxUnreadBytesPerStream ||
      this.#held.total > maxUnreadBytes ||
      this.#held.amountOf(principal) > maxUnreadBytesPerPrincipal
    );
  }
}

/** A response stream, which counts its own unread bytes and those in the connection's buffer. */
class CountedStream {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #outgoing: Outgoing;
  readonly #most: number;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isOver = false;
  /** The unread bytes at the last measurement. */
  held = 0;
  /** Called when `measure` may have changed. */
  onChange: () => void = () => {};

  constructor(body: ReadableStream<Uint8Array>, outgoing: Outgoing, most: number) {
    this.#reader = body.getReader();
    this.#outgoing = outgoing;
    this.#most = most;
    outgoing.on('drain', () => this.onChange());
  }

  /** Measures the unread bytes; 0 once the client has disconnected. */
  measure(): number {
    const queued = this.#most - (this.#controller?.desiredSize ?? this.#most);
    this.held = this.#isOver ? 0 : queued + this.#outgoing.writableLength;
    return this.held;
  }

  /** Ends the count, when the client has disconnected. */
  end(): void {
    this.#isOver = true;
    this.onChange();
    this.#reader.cancel().catch(() => {});
  }

  forward(isFull: () => boolean, report: (error: Error) => void): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          this.#forward(controller, isFull).catch((error: Error) => {
            // Enqueueing also fails after the client has disconnected.
            if (this.#isOver) return;
            report(error);
            this.#outgoing.destroy();
            // A web response has no connection to break, so break its stream.
            if (this.#isOver) controller.error(error);
          });
        },
        pull: () => this.onChange(),
        cancel: () => this.end(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: this.#most }),
    );
  }

  async #forward(
    controller: ReadableStreamDefaultController<Uint8Array>,
    isFull: () => boolean,
  ): Promise<void> {
    for (let next = await this.#reader.read(); !next.done; next = await this.#reader.read()) {
      // A handler that sends without a pause does not let the connection drain, even if its client reads fast.
      for (let left = PATIENCE_MS / LOOK_MS; isFull() && left > 0; left--)
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS).unref());
      if (isFull()) {
        publish('mrtr:rejection', { reason: 'stream_unread' });
        throw new OperatorWarning(
          'stream_closed',
          `A stream was closed: its client left ${this.held} bytes unread, and an unread limit was reached. Send less, ` +
            'or raise maxUnreadBytesPerStream, maxUnreadBytes or maxUnreadBytesPerPrincipal.',
        );
      }
      controller.enqueue(next.value);
      this.onChange();
    }
    controller.close();
  }
}
