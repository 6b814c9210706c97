/** Asks the processes of one instance which lines of its author's file ran. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
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
export async function openLineChannel() {
  const token = randomBytes(24).toString('base64url');
  const processes = new Set<Answering>();
  /** Opened also when the wait for a process is over. */
  const connected = new Deferred();

  function accept(socket: Socket) {
    const one: Answering = { socket, owed: [], answers: [] };
    let text = '';
    socket.setEncoding('utf8').on('error', () => {});
    socket.on('close', () => {
      processes.delete(one);
      for (const answer of one.owed) answer.open();
    });
    socket.on('data', (part) => {
      text += part;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        if (processes.has(one)) receive(one, line);
        else if (line === token) {
          processes.add(one);
          connected.open();
        } else socket.destroy();
      }
      const most = processes.has(one) ? MAX_LENGTH : token.length;
      if (text.length > most) socket.destroy();
    });
  }

  const server = createServer(accept).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    /** What goes into the environment of the server, so that its processes trace its author's files. */
    environment(traced: Pick<Given, 'source' | 'root'>, preload: URL, options = '') {
      const given: Given = { port, token, ...traced };
      return { [TRACE]: JSON.stringify(given), NODE_OPTIONS: `${options} --import=${preload.href}`.trim() };
    },

    /** What ran since the last call, of each process that answers. Once the server is up, waits for the first of them. */
    async take(isUp: boolean): Promise<readonly Taken[]> {
      // A server that is no Node.js program never connects.
      if (isUp) await within(CONNECT_MS, connected.promise, () => '').catch(connected.open);
      const all = await Promise.all([...processes].map(ask));
      return all.flat();
    },

    close() {
      for (const { socket } of processes) socket.destroy();
      server.close();
    },
  };
}

function receive(one: Answering, text: string) {
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
