/**
 * Limits the unread bytes of streams. The SDK sends changes to a subscription, and a handler sends progress, even if the
 * client does not read. Without a limit, a client that opens streams and does not read them would fill the memory.
 */
import { OperatorWarning } from '@mrtr/core/events';
import { addGauge, ownLimit, publish, Quota } from '@mrtr/core/internal';
import type { AdmittedRequest } from './exchange.ts';
import type { Limits } from './limits.ts';
import type { OnError } from './server-instance.ts';

/** The bytes of one stream. */
export const MAX_STREAM_BYTES = 1_048_576;

/** How long a full stream may take to drain. */
const PATIENCE_MS = 200;
const LOOK_MS = 10;

/**
 * Counts the unread bytes of one hosting's streams. Makes a function that returns a response whose stream ends when too many
 * of its bytes are unread: of the stream, of its principal, or of all. If a limit is exceeded when the stream's next message
 * comes, it has 200 ms to drain below it. Then it is ended with its connection. So one message may be larger than a limit.
 */
export function makeStreamLimiter(
  { bytes, perPrincipal }: Pick<Limits, 'bytes' | 'perPrincipal'>,
  report: OnError,
  maxStreamBytes = MAX_STREAM_BYTES,
) {
  const maxOwn = ownLimit(bytes, perPrincipal);
  const streams = new Quota(Number.POSITIVE_INFINITY);
  const all = new Quota(Number.POSITIVE_INFINITY);
  addGauge('streams', streams, ({ total }) => total);
  addGauge('streams.unread_bytes', all, ({ total }) => total);

  return (
    response: Response,
    { outgoing, principal }: Pick<AdmittedRequest, 'outgoing' | 'principal'>,
  ): Response => {
    const { body, headers } = response;
    if (!body || !headers.get('content-type')?.startsWith('text/event-stream')) return response;
    const reader = body.getReader();
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    let isOver = false;
    /** The unread bytes of the stream and of the connection's buffer, at the last measurement. */
    let held = 0;

    /** Measures the unread bytes; 0 once the client has disconnected. */
    const measure = () => {
      const before = held;
      const queued = maxStreamBytes - (controller?.desiredSize ?? maxStreamBytes);
      held = isOver ? 0 : queued + outgoing.writableLength;
      // Use `giveBack` for less: it also forgets a principal who holds nothing.
      if (held > before) all.add(principal, held - before);
      else all.giveBack(principal, before - held);
    };
    const isFull = () => {
      measure();
      return held > maxStreamBytes || all.total > bytes || all.amountOf(principal) > maxOwn;
    };
    /** Ends the count, when the client has disconnected. */
    const end = () => {
      isOver = true;
      measure();
      reader.cancel().catch(() => {});
    };
    const forward = async (to: ReadableStreamDefaultController<Uint8Array>) => {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        // A handler that sends without a pause does not let the connection drain, even if its client reads fast.
        for (let left = PATIENCE_MS / LOOK_MS; isFull() && left > 0; left--)
          await new Promise((resolve) => setTimeout(resolve, LOOK_MS).unref());
        if (isFull()) {
          publish('mrtr:rejection', { reason: 'transport', detail: 'stream_unread' });
          throw new OperatorWarning(
            'stream_closed',
            `A stream was closed: its client left ${held} bytes unread, and an unread limit was reached. Send less, ` +
              'or raise `limits: { bytes }`.',
          );
        }
        to.enqueue(next.value);
        measure();
      }
      to.close();
    };

    streams.add(undefined);
    outgoing.on('drain', measure).once('close', () => {
      streams.giveBack(undefined);
      end();
    });
    const bounded = new ReadableStream<Uint8Array>(
      {
        start: (begun) => {
          controller = begun;
          forward(begun).catch((error: Error) => {
            // Enqueueing also fails after the client has disconnected.
            if (isOver) return;
            report(error);
            outgoing.destroy();
            // A web response has no connection to break, so break its stream.
            if (isOver) begun.error(error);
          });
        },
        pull: measure,
        cancel: end,
      },
      new ByteLengthQueuingStrategy({ highWaterMark: maxStreamBytes }),
    );
    return new Response(bounded, response);
  };
}
