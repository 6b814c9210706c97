/** Two processes that call each other over the channel between a process and its parent. */
import type { ChildProcess } from 'node:child_process';
import { type BirpcReturn, createBirpc } from 'birpc';

export type Rpc<Theirs extends object> = ReturnType<typeof rpcOver<Theirs, object>>;

/**
 * Connects one end: a child with a channel, or this process to its parent. Messages arrive in order, so the events that the
 * other end sent before an answer have arrived when the answer does.
 *
 * @param ours the methods that the other end may call.
 * @param events the other end's methods that send no answer.
 * @param before called before each message is sent. It may send messages.
 */
export function rpcOver<Theirs extends object, Ours extends object>(
  channel: ChildProcess | NodeJS.Process,
  ours: Ours,
  events: (keyof Theirs)[] = [],
  before = () => {},
) {
  const remote = createBirpc<Theirs, Ours>(ours, {
    eventNames: events,
    timeout: -1,
    on: (receive) => void channel.on('message', receive),
    // Ignore messages after the end of the channel; `closed` rejects the calls.
    post: (message) => {
      before();
      if (channel.connected) channel.send?.(message, undefined, undefined, () => {});
    },
    serialize: (message) => ({ ...message, ...failure(message) }),
    deserialize: (message) => (message.e === undefined ? message : { ...message, e: new Error(message.e) }),
  });
  const closed = new Promise<void>((resolve) => {
    channel.once('disconnect', () => {
      remote.$close(new Error('The other process has ended.'));
      resolve();
    });
  });
  return {
    /** The other end's methods. A call rejects with the other end's error, or when the connection ends first. */
    remote: remote as BirpcReturn<Theirs>,
    /** Resolves when either side has ended the connection, and all earlier messages have been read. */
    closed,
    ended: () => !channel.connected,
    close: () => channel.disconnect?.(),
  };
}

/** Turns an error into text, since errors have no JSON form. */
const failure = ({ e }: { readonly e?: unknown }) =>
  e === undefined ? {} : { e: e instanceof Error ? e.message : String(e) };
