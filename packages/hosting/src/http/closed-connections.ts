/**
 * Responses that wait for another one on their connection, because the client pipelines. When such a connection closes,
 * Node tells only the response that is being sent. The others would never close: their calls would count for ever, and
 * their handlers' signals would not fire.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const responses = new WeakMap<Socket, Set<ServerResponse>>();

/** Closes `response` when its connection closes, whether it is being sent or waits. */
export function closeWithConnection(response: ServerResponse, socket: Socket): void {
  const open = responses.get(socket) ?? watch(socket);
  open.add(response);
  response.once('close', () => open.delete(response));
}

/** With one listener on each connection: a client can pipeline any number of requests. */
function watch(socket: Socket): Set<ServerResponse> {
  const open = new Set<ServerResponse>();
  responses.set(socket, open);
  socket.once('close', () => {
    for (const response of open) if (!response.socket) close(response);
  });
  return open;
}

/** What Node does with the response that is being sent. */
function close(response: ServerResponse): void {
  response.destroyed = true;
  response.emit('close');
}
