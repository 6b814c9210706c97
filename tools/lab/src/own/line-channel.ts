/** Asks the processes of one instance which lines of its author's file ran. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Deferred, within } from '@mrtr/harness/internal';
import { z } from 'zod';
import { type Given, MAX_FILES, type Taken, TRACE } from './trace.ts';

/** A process that does not answer is busy, or no longer the author's. */
const PATIENCE_MS = 3000;
/** How long a server that has sent its first message may take to connect here. */
const CONNECT_MS = 1000;
/** The most characters of one answer. */
const MAX_LENGTH = 4_000_000;

// A server can write to this channel what it likes.
const count = z.number().int().min(0);
const lines = z.record(z.string(), z.union([count, z.array(z.tuple([count, count]))]));
const taken: z.ZodType<Taken> = z.object({
  lines: z
    .object({
      files: z.record(z.string(), lines),
      order: z.array(z.tuple([z.string().max(1000), count])).max(2000),
    })
    .optional(),
  loaded: z.array(z.string().max(1000)).max(MAX_FILES),
});

/** A process that answers. */
interface Answering {
  readonly socket: Socket;
  /** The answers that it owes, in order. */
  readonly owed: Deferred[];
  /** Its answers that were not taken yet: one may come late. */
  readonly answers: Taken[];
}

/** Listens on 127.0.0.1, for processes that know its token. */
export class LineChannel {
  readonly #token = randomBytes(24).toString('base64url');
  readonly #server: Server;
  readonly #processes = new Set<Answering>();
  /** Opened also when the wait for a process is over. */
  readonly #connected = new Deferred();

  private constructor() {
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async open(): Promise<LineChannel> {
    const channel = new LineChannel();
    channel.#server.listen(0, '127.0.0.1');
    await once(channel.#server, 'listening');
    return channel;
  }

  /** What goes into the environment of the server, so that its processes trace its author's files. */
  environment(
    { source, root }: Pick<Given, 'source' | 'root'>,
    preload: URL,
    options = '',
  ): Readonly<Record<string, string>> {
    const { port } = this.#server.address() as AddressInfo;
    const given: Given = { port, token: this.#token, source, root };
    return { [TRACE]: JSON.stringify(given), NODE_OPTIONS: `${options} --import=${preload.href}`.trim() };
  }

  /** What ran since the last call, of each process that answers. Once the server is up, waits for the first of them. */
  async take(isUp: boolean): Promise<readonly Taken[]> {
    // A server that is no Node.js program never connects.
    if (isUp) await within(CONNECT_MS, this.#connected.promise, () => '').catch(this.#connected.open);
    const all = await Promise.all([...this.#processes].map(ask));
    return all.flat();
  }

  close(): void {
    for (const { socket } of this.#processes) socket.destroy();
    this.#server.close();
  }

  #accept(socket: Socket): void {
    const one: Answering = { socket, owed: [], answers: [] };
    let text = '';
    socket.setEncoding('utf8').on('error', () => {});
    socket.on('close', () => {
      this.#processes.delete(one);
      for (const answer of one.owed) answer.open();
    });
    socket.on('data', (part) => {
      text += part;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        if (this.#processes.has(one)) receive(one, line);
        else if (line === this.#token) {
          this.#processes.add(one);
          this.#connected.open();
        } else socket.destroy();
      }
      const most = this.#processes.has(one) ? MAX_LENGTH : this.#token.length;
      if (text.length > most) socket.destroy();
    });
  }
}

function receive(one: Answering, text: string): void {
  try {
    one.answers.push(taken.parse(JSON.parse(text)));
  } catch {
    // It is not the preload that answers.
    one.socket.destroy();
  }
  one.owed.shift()?.open();
}

async function ask(one: Answering): Promise<readonly Taken[]> {
  const answer = new Deferred();
  one.owed.push(answer);
  one.socket.write('take\n');
  await within(PATIENCE_MS, answer.promise, () => '').catch(() => {});
  return one.answers.splice(0);
}
