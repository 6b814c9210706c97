/** Two processes that call each other: requests, answers and news, as lines of JSON over one socket. */
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** What can be called on a peer, by name. Each takes one parameter, of plain data. */
export type Methods = { readonly [name: string]: (params: never) => unknown };

type Params<M extends Methods, Name extends keyof M> = Parameters<M[Name]>[0];
type Line =
  | { readonly call: string; readonly params: unknown; readonly id?: number }
  | { readonly answer: number; readonly value?: unknown; readonly failure?: string };

/**
 * One end. Lines arrive in the order in which they were sent, so an answer to a call also says that everything
 * told before it has arrived.
 */
export class Peer<Theirs extends Methods> {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, PromiseWithResolvers>();
  #calls = 0;
  /** Resolves when the connection has ended, from whichever side, and all that was sent before has been read. */
  readonly closed: Promise<void>;
  /** Whether it has. */
  ended = false;

  /** @param ours what the other end may call here. */
  constructor(socket: Socket, ours: Methods) {
    this.#socket = socket;
    // Small lines that are waited for: without this each would wait for the acknowledgement of the one before.
    socket.setNoDelay(true);
    // A killed process resets its connection; that it is closed is all that there is to know.
    socket.on('error', () => {});
    const lines = createInterface({ input: socket });
    lines.on('line', (line) => void this.#receive(JSON.parse(line) as Line, ours));
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.ended = true;
        for (const { reject } of this.#waiting.values()) reject(new Error('The other process has ended.'));
        this.#waiting.clear();
        resolve();
      });
    });
  }

  /** Calls a method of the other end. Rejects with its error, or when the connection ends first. */
  call<Name extends keyof Theirs & string>(
    name: Name,
    params: Params<Theirs, Name>,
  ): Promise<Awaited<ReturnType<Theirs[Name]>>> {
    const id = ++this.#calls;
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(new Error('The other process has ended.'));
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#send({ call: name, params, id });
    });
  }

  /** Calls a method of the other end, and does not wait for it. */
  tell<Name extends keyof Theirs & string>(name: Name, params: Params<Theirs, Name>): void {
    this.#send({ call: name, params });
  }

  /** Ends the connection. */
  close(): void {
    this.#socket.destroy();
  }

  async #receive(line: Line, ours: Methods): Promise<void> {
    if ('answer' in line) {
      const { answer, value, failure } = line;
      const waiting = this.#waiting.get(answer);
      this.#waiting.delete(answer);
      if (failure === undefined) waiting?.resolve(value);
      else waiting?.reject(new Error(failure));
      return;
    }
    const { call, params, id } = line;
    try {
      const value = await (ours[call] as ((params: unknown) => unknown) | undefined)?.(params);
      if (id !== undefined) this.#send({ answer: id, value });
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      if (id !== undefined) this.#send({ answer: id, failure });
    }
  }

  #send(line: Line): void {
    if (!this.#socket.destroyed) this.#socket.write(`${JSON.stringify(line)}\n`);
  }
}

interface PromiseWithResolvers {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}
