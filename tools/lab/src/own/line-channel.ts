/** Asks the processes of one instance which lines of its author's file ran. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { z } from 'zod';
import { type Given, MAX_FILES, type Taken, TRACE } from './trace.ts';

/** A process that does not answer is busy, or no longer the author's. */
const PATIENCE_MS = 1000;
/** The most characters of one answer. */
const MAX_LENGTH = 4_000_000;

// A server can write to this channel what it likes.
const count = z.number().int().min(0);
const lines = z.record(z.string(), z.union([count, z.array(z.tuple([count, count]))]));
const taken: z.ZodType<Taken> = z.object({
  lines: z
    .object({
      files: z.record(z.string(), lines),
      order: z.array(z.tuple([z.string(), count])).max(2000),
    })
    .optional(),
  loaded: z.array(z.string().max(1000)).max(MAX_FILES),
});

/** Listens on 127.0.0.1, for processes that know its token. */
export class LineChannel {
  readonly #token = randomBytes(24).toString('base64url');
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #reply: (text: string) => void = () => {};

  private constructor() {
    this.#server = createServer((socket) => this.#take(socket));
  }

  static async open(): Promise<LineChannel> {
    const channel = new LineChannel();
    channel.#server.listen(0, '127.0.0.1');
    await once(channel.#server, 'listening');
    return channel;
  }

  /** What goes into the environment of the server, so that its processes trace `source`. */
  environment(
    { source, root }: Pick<Given, 'source' | 'root'>,
    preload: URL,
    options = '',
  ): Readonly<Record<string, string>> {
    const { port } = this.#server.address() as AddressInfo;
    const given: Given = { port, token: this.#token, source, root };
    return { [TRACE]: JSON.stringify(given), NODE_OPTIONS: `${options} --import=${preload.href}`.trim() };
  }

  /** The lines that ran since the last call, of the first process that ran any. Undefined if no process answers. */
  async take(): Promise<Taken | undefined> {
    const answers: Taken[] = [];
    for (const socket of this.#sockets) answers.push(...(await this.#ask(socket)));
    if (answers.length === 0) return undefined;
    const loaded = [...new Set(answers.flatMap((one) => one.loaded))];
    return { lines: answers.find((one) => one.lines)?.lines, loaded };
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #take(socket: Socket): void {
    let [text, isKnown] = ['', false];
    socket.setEncoding('utf8').on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', (part) => {
      text += part;
      if (text.length > (isKnown ? MAX_LENGTH : this.#token.length + 1)) socket.destroy();
      else if (text.endsWith('\n') && isKnown) this.#reply(text);
      else if (text === `${this.#token}\n`) this.#sockets.add(socket);
      else return;
      [text, isKnown] = ['', true];
    });
  }

  async #ask(socket: Socket): Promise<readonly Taken[]> {
    const text = await new Promise<string>((resolve) => {
      this.#reply = resolve;
      const timer = setTimeout(resolve, PATIENCE_MS, '');
      socket.once('close', () => resolve(''));
      socket.write('take\n');
      timer.unref();
    });
    try {
      return [taken.parse(JSON.parse(text))];
    } catch {
      return [];
    }
  }
}
