/**
 * Ends what a client does with a connection of Node that Node itself does not end: pipelined requests whose connection
 * closed, and responses that their client does not read.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests of one connection may wait for their responses. */
export const MAX_PIPELINED = 64;

const responses = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Closes `response` when its connection closes, even if it waits for another response. Node closes only the response that
 * is being sent. The waiting ones would stay open: their calls would count for ever, and their handlers' signals would not
 * fire. Closes the connection if too many of its requests wait: a megabyte holds 40 000 short requests, and Node begins
 * all of them at once.
 */
export function closeWithConnection(response: ServerResponse, socket: Socket): void {
  const open = responses.get(socket) ?? watch(socket);
  open.add(response);
  response.once('close', () => open.delete(response));
  if (open.size > MAX_PIPELINED) socket.destroy();
}

/** Adds one listener per connection, since a client can pipeline any number of requests. */
function watch(socket: Socket): Set<ServerResponse> {
  const open = new Set<ServerResponse>();
  responses.set(socket, open);
  socket.once('close', () => {
    for (const response of open) if (!response.socket) close(response);
  });
  return open;
}

/** Does what Node does with the response that is being sent. */
function close(response: ServerResponse): void {
  response.destroyed = true;
  response.emit('close');
}

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
 * Destroys a connection with a watched response that has had bytes to send for `seconds`, and has sent none. Otherwise its
 * calls would keep their places as long as the client likes. `server.setTimeout` does not help: it would also cut calls
 * that wait for a user. One timer sweeps all of them. It counts sweeps instead of time, so that a suspended server does not end its connections.
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
