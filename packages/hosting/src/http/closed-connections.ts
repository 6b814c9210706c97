/**
 * Responses that wait for another one on their connection, because the client pipelines. When such a connection closes,
 * Node tells only the response that is being sent. The others would never close: their calls would count for ever, and
 * their handlers' signals would not fire.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Closes every response of `server` whose connection has closed. */
export function closeResponsesWithConnection(server: Server): void {
  const responses = new WeakMap<Socket, Set<ServerResponse>>();
  server.on('connection', (socket) => {
    const open = new Set<ServerResponse>();
    responses.set(socket, open);
    socket.once('close', () => {
      for (const response of open) if (!response.socket) close(response);
    });
  });
  server.on('request', ({ socket }, response) => {
    const open = responses.get(socket);
    open?.add(response);
    response.once('close', () => open?.delete(response));
  });
}

/** What Node does with the response that is being sent. */
function close(response: ServerResponse): void {
  response.destroyed = true;
  response.emit('close');
}
