/**
 * Closes the responses of pipelined requests. When their connection closes, Node closes only the response that is being
 * sent. The waiting ones would stay open: their calls would count for ever, and their handlers' signals would not fire.
 * Also limits them: a megabyte holds 40 000 short requests, and Node begins all of them at once.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests of one connection may wait for their responses. */
export const MAX_PIPELINED = 64;

const responses = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Closes `response` when its connection closes, even if it waits for another response. Closes the connection if too many
 * of its requests wait.
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
