/**
 * Ends what a client does with a connection of Node that Node itself does not end: pipelined requests whose connection
 * closed, and responses that their client does not read.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests of one connection may wait for their responses. */
export const MAX_PIPELINED = 64;
/** How long a client may read nothing of a response, in seconds. */
export const SEND_SECONDS = 60;
/** How many sweeps that time has. A connection ends at most one sweep late. */
const SWEEPS = 10;

interface Connection {
  /** The responses that are not sent. */
  readonly open: Set<ServerResponse>;
  /** At the last sweep: the bytes passed to the system, and those that it has still to send. */
  written: number;
  queued: number;
  /** How many sweeps in a row found bytes waiting and none sent. */
  stalled: number;
}

/**
 * Watches the connections of responses:
 *
 * * If a connection closes, all its responses close. Node closes only the response that is being sent. The waiting ones
 *   would stay open: their calls would count for ever, and their handlers' signals would not fire.
 * * If too many requests of a connection wait, it is closed. A megabyte holds 40 000 short requests, and Node begins all
 *   of them at once.
 * * If a connection has had bytes to send for {@link SEND_SECONDS}, and has sent none, it is closed. Otherwise its calls
 *   would keep their places as long as the client likes. `server.setTimeout` does not help: it would also cut calls that
 *   wait for a user.
 *
 * One timer sweeps all connections. It counts sweeps instead of time, so that a suspended server does not end them.
 */
export function watchConnections() {
  const connections = new Map<Socket, Connection>();
  // From the first connection on: Workers have none, and allow no timer outside of a request.
  let sweeper: NodeJS.Timeout | undefined;

  /** Watches the connection until `response` has been sent. */
  function watch(response: ServerResponse, socket: Socket) {
    const { open } = connections.get(socket) ?? begin(socket);
    open.add(response);
    response.once('close', () => open.delete(response));
    if (open.size > MAX_PIPELINED) socket.destroy();
  }

  /** Adds one listener per connection, since a client can pipeline any number of requests. */
  function begin(socket: Socket): Connection {
    const connection = { open: new Set<ServerResponse>(), written: 0, queued: 0, stalled: 0 };
    connections.set(socket, connection);
    sweeper ??= setInterval(sweep, (SEND_SECONDS * 1000) / SWEEPS).unref();
    socket.once('close', () => {
      connections.delete(socket);
      for (const response of connection.open) if (!response.socket) close(response);
    });
    return connection;
  }

  function sweep() {
    for (const [socket, connection] of connections) {
      if (hasMoved(socket, connection)) connection.stalled = 0;
      else if (++connection.stalled >= SWEEPS) socket.destroy();
    }
  }

  return { watch, stop: () => clearInterval(sweeper) };
}

/** Does what Node does with the response that is being sent. */
function close(response: ServerResponse) {
  response.destroyed = true;
  response.emit('close');
}

/**
 * Whether the connection has nothing to send, or has sent bytes since the last sweep. `bytesWritten` alone does not show
 * it: it includes bytes that wait in Node, and does not change while the system sends a large answer piece by piece.
 */
function hasMoved(socket: Socket, connection: Connection) {
  const written = socket.bytesWritten - socket.writableLength;
  const queued = measureQueue(socket);
  const moved = written !== connection.written || queued !== connection.queued;
  connection.written = written;
  connection.queued = queued;
  return moved || socket.writableLength === 0;
}

/** The bytes of the current write that the system has not accepted. Node's own socket timeout reads the same. */
const measureQueue = (socket: Socket) =>
  (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
