/** Two processes that call each other over one socket, in lines of JSON. */
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { type BirpcReturn, createBirpc } from 'birpc';

export interface Rpc<Theirs extends object> {
  /** The other end's methods. A call rejects with the error of the other end, or when the connection ends first. */
  readonly remote: BirpcReturn<Theirs>;
  /** Resolves when the connection has ended, from either side, and everything that was sent before has been read. */
  readonly closed: Promise<void>;
  readonly ended: () => boolean;
  close(): void;
}

const endedError = () => new Error('The other process has ended.');

/**
 * Connects one end. Lines arrive in the order in which they were sent, so when a call is answered, every event that was
 * sent before the answer has arrived.
 *
 * @param ours the methods that the other end may call here.
 * @param events the methods of the other end that send no answer.
 */
export function rpcOver<Theirs extends object, Ours extends object>(
  socket: Socket,
  ours: Ours,
  events: (keyof Theirs)[] = [],
): Rpc<Theirs> {
  // Send small lines at once: otherwise each would wait for the acknowledgement of the one before.
  socket.setNoDelay(true);
  // A killed process resets its connection. Treat that as its end.
  socket.on('error', () => {});
  const lines = createInterface({ input: socket }).on('error', () => {});
  const remote = createBirpc<Theirs, Ours>(ours, {
    eventNames: events,
    timeout: -1,
    on: (receive) => void lines.on('line', receive),
    post: (line: string) => {
      if (socket.destroyed) throw endedError();
      socket.write(line);
    },
    serialize: (message) => `${JSON.stringify({ ...message, ...failure(message) })}\n`,
    deserialize: (line: string) => {
      const message = JSON.parse(line);
      return message.e === undefined ? message : { ...message, e: new Error(message.e) };
    },
  });
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      remote.$rejectPendingCalls(({ reject }) => reject(endedError()));
      resolve();
    });
  });
  return {
    remote: remote as BirpcReturn<Theirs>,
    closed,
    ended: () => socket.destroyed,
    close: () => socket.destroy(),
  };
}

/** An error as text, because an error has no JSON form. */
const failure = ({ e }: { readonly e?: unknown }) =>
  e === undefined ? {} : { e: e instanceof Error ? e.message : String(e) };
