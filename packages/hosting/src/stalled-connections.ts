/**
 * Ends connections whose client does not read. Their responses are never sent, so their calls would keep their places as
 * long as the client likes. `server.setTimeout` does not help: it would also cut calls that wait for a user.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export const SEND_SECONDS = 60;
/** How many sweeps a connection's time has. It ends at most one sweep late. */
const SWEEPS = 10;

/** The state of a connection at the last sweep. */
interface Progress {
  /** The bytes passed to the system, and those that it has still to send. */
  written: number;
  queued: number;
  /** How many sweeps in a row found bytes waiting and none sent. */
  stalled: number;
}

/**
 * Destroys a connection with a watched response that has had bytes to send for `seconds`, and has sent none. One timer
 * sweeps all of them. It counts sweeps instead of time, so that a suspended server does not end its connections.
 */
export function stalledConnections(seconds: number) {
  const watched = new Map<ServerResponse, { readonly socket: Socket; readonly progress: Progress }>();
  const sweeper = setInterval(sweep, (seconds * 1000) / SWEEPS);
  sweeper.unref();

  /** Watches the connection until `response` has been sent. */
  function watch(response: ServerResponse, socket: Socket): void {
    watched.set(response, { socket, progress: { written: 0, queued: 0, stalled: 0 } });
    response.once('close', () => watched.delete(response));
  }

  function stop(): void {
    clearInterval(sweeper);
  }

  function sweep(): void {
    for (const { socket, progress } of watched.values()) {
      if (hasMoved(socket, progress)) progress.stalled = 0;
      else if (++progress.stalled >= SWEEPS) socket.destroy();
    }
  }

  return { watch, stop };
}

/**
 * Whether the connection has nothing to send, or has sent bytes since the last sweep. `bytesWritten` alone does not show
 * it: it includes bytes that wait in Node, and does not change while the system sends a large answer piece by piece.
 */
function hasMoved(socket: Socket, progress: Progress): boolean {
  const written = socket.bytesWritten - socket.writableLength;
  const queued = measureQueue(socket);
  const moved = written !== progress.written || queued !== progress.queued;
  progress.written = written;
  progress.queued = queued;
  return moved || socket.writableLength === 0;
}

/** The bytes of the current write that the system has not accepted. Node's own socket timeout reads the same. */
const measureQueue = (socket: Socket): number =>
  (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
