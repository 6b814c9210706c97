/**
 * Bytes of streams that wait to be read. The SDK sends a change to each subscription whether its client reads or not, and a
 * handler its progress: without a bound, a client that opens streams and reads none of them fills the memory.
 */
import type { ServerResponse } from 'node:http';
import { type OptionChecks, Quota, wholeNumber, withDefaults } from '@mrtr/core/kit';
import type { OnError } from '../instance/server-instance.ts';

/**
 * Bounds on what waits to be read. A stream that is beyond one when its next message comes is ended, with its connection.
 * So one message may be larger than a bound.
 */
export interface UnreadLimits {
  /** Bytes of one stream. Default 1 MiB. */
  readonly maxUnreadBytesPerStream?: number;
  /** Bytes of all streams. Default 64 MiB. */
  readonly maxUnreadBytes?: number;
  /** The same of one principal. Default 8 MiB; anonymous callers share `maxUnreadBytes`. */
  readonly maxUnreadBytesPerPrincipal?: number;
}

/** The checks of {@link UnreadLimits}. */
export const UNREAD_CHECKS: OptionChecks<UnreadLimits> = {
  maxUnreadBytesPerStream: wholeNumber(),
  maxUnreadBytes: wholeNumber(),
  maxUnreadBytesPerPrincipal: wholeNumber(),
};

export const UNREAD_DEFAULTS = {
  maxUnreadBytesPerStream: 1_048_576,
  maxUnreadBytes: 67_108_864,
  maxUnreadBytesPerPrincipal: 8_388_608,
};

/** Counts what waits in the streams of one hosting. */
export class UnreadBytes {
  readonly #limits: Required<UnreadLimits>;
  readonly #held = new Quota(Number.POSITIVE_INFINITY);
  readonly #report: OnError;

  constructor(options: UnreadLimits, report: OnError) {
    this.#limits = withDefaults(options, UNREAD_DEFAULTS);
    this.#report = report;
  }

  /** The same response; a stream in it ends when too much of it waits. */
  bound(response: Response, outgoing: ServerResponse, principal: string | undefined): Response {
    const { body, headers } = response;
    if (!body || !headers.get('content-type')?.startsWith('text/event-stream')) return response;
    const reader = body.getReader();
    const most = this.#limits.maxUnreadBytesPerStream;
    let held = 0;
    const note = (waiting: number) => {
      if (waiting > held) this.#held.add(principal, waiting - held);
      else this.#held.give(principal, held - waiting);
      held = waiting;
    };
    const waitingIn = ({ desiredSize }: ReadableStreamDefaultController) => most - (desiredSize ?? most);
    const forward = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        note(waitingIn(controller));
        if (this.#isFull(held, principal))
          throw new Error(`A stream was ended: ${held} bytes of it waited to be read.`);
        controller.enqueue(next.value);
        note(waitingIn(controller));
      }
      controller.close();
    };
    let isClosed = false;
    const end = () => {
      isClosed = true;
      note(0);
      reader.cancel().catch(() => {});
    };
    outgoing.once('close', end);
    const bounded = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          forward(controller).catch((error: Error) => {
            // What is enqueued for a client that has gone fails as well.
            if (isClosed) return;
            this.#report(error);
            outgoing.destroy();
          });
        },
        pull: (controller) => {
          if (!isClosed) note(waitingIn(controller));
        },
        cancel: end,
      },
      new ByteLengthQueuingStrategy({ highWaterMark: most }),
    );
    return new Response(bounded, response);
  }

  #isFull(held: number, principal: string | undefined): boolean {
    const { maxUnreadBytesPerStream, maxUnreadBytes, maxUnreadBytesPerPrincipal } = this.#limits;
    return (
      held > maxUnreadBytesPerStream ||
      (held > 0 && this.#held.total > maxUnreadBytes) ||
      (held > 0 && this.#held.amountOf(principal) > maxUnreadBytesPerPrincipal)
    );
  }
}
