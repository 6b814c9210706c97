/**
 * Connections whose client does not read. What waits for such a client is never sent, so its calls would keep their
 * places as long as the client likes. `server.setTimeout` is no help: it would also cut calls that wait for a user.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** By default. */
export const SEND_SECONDS = 60;
/** In a tenth of the time each, so that a connection is ended at most a tenth late. */
const SWEEPS = 10;

/** What is known of a connection since the last sweep. */
interface Progress {
  /** The bytes that were handed to the system, and those that it still has to send. */
  written: number;
  queued: number;
  /** Sweeps in a row that found bytes waiting, and none sent. */
  stalled: number;
}

/**
 * Destroys the connections that have had bytes to send for `seconds`, and have sent none, while one of their responses is
 * watched. One timer looks at all of them. It counts sweeps, not the time: a server that was suspended ends no connection
 * for that.
 */
export class StalledConnections {
  readonly #watched = new Map<ServerResponse, { readonly socket: Socket; readonly progress: Progress }>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(seconds: number) {
    this.#sweeper = setInterval(() => this.#sweep(), (seconds * 1000) / SWEEPS);
    this.#sweeper.unref();
  }

  /** Watches the connection until `response` has been sent. */
  watch(response: ServerResponse, socket: Socket): void {
    this.#watched.set(response, { socket, progress: { written: 0, queued: 0, stalled: 0 } });
    response.once('close', () => this.#watched.delete(response));
  }

  stop(): void {
    clearInterval(this.#sweeper);
  }

  #sweep(): void {
    for (const { socket, progress } of this.#watched.values()) {
      if (hasMoved(socket, progress)) progress.stalled = 0;
      else if (++progress.stalled >= SWEEPS) socket.destroy();
    }
  }
}

/**
 * Whether the connection has nothing to send, or has sent something since the last sweep. `bytesWritten` alone does not
 * tell: it counts what waits in Node, and it stays the same while the system sends a large answer piece by piece.
 */
function hasMoved(socket: Socket, progress: Progress): boolean {
  const written = socket.bytesWritten - socket.writableLength;
  const queued = measureQueue(socket);
  const moved = written !== progress.written || queued !== progress.queued;
  progress.written = written;
  progress.queued = queued;
  return moved || socket.writableLength === 0;
}

/** Bytes of the present write that the system has not taken. Node's own timeout of a socket reads the same. */
const measureQueue = (socket: Socket): number =>
  (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
