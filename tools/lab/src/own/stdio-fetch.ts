/** A program on stdio behind `fetch`, so that the lab can disturb the network between it and its client. */
import { PassThrough, Readable } from 'node:stream';
import type { Fetch, ServerProcess } from '@mrtr/harness/internal';
import type { WireMessage } from '@mrtr/harness/transcript';

/** The most messages, and characters, that one request may be answered with. */
const MAX_MESSAGES = 1000;
const MAX_LENGTH = 8_000_000;

/** A request without an answer. */
interface Open {
  readonly send: (message: WireMessage) => void;
  readonly end: (why?: Error) => void;
  length: number;
  messages: number;
}

/** Makes the function. `before` is awaited before a message of the program is passed on. */
export function fetchOver(program: ServerProcess, before: (message: WireMessage) => Promise<void>): Fetch {
  const open = new Map<unknown, Open>();
  let delivered = Promise.resolve();
  program.onLine((line) => {
    const message = parse(line);
    const isResponse = message !== undefined && message.method === undefined;
    // A request of the program, or a notification, belongs to the request that came last.
    const to = isResponse ? open.get(message.id) : [...open.values()].at(-1);
    if (!message || !to) return;
    to.length += line.length;
    if (++to.messages > MAX_MESSAGES || to.length > MAX_LENGTH) program.killNow();
    else
      delivered = delivered.then(async () => {
        const isNotice = !isResponse && message.id === undefined;
        if (!isNotice) await before(message);
        to.send(message);
        if (!isResponse) return;
        open.delete(message.id);
        to.end();
      });
  });
  let why: Error | undefined;
  void program.ended.then((how) => {
    const last = program.tail.split('\n').at(-1);
    why = new Error(`The server ended: ${last ? `${last} (${how})` : how}.`);
    for (const one of open.values()) one.end(why);
    open.clear();
  });
  return async (_url, init) => {
    if (init?.method !== 'POST') return new Response(null, { status: init?.method === 'DELETE' ? 200 : 405 });
    if (!program.alive) throw new Error(`The connection was refused. ${why?.message ?? 'The server ended.'}`);
    const body = String(init.body);
    const { id, method } = parse(body) ?? {};
    const write = (text: string) => program.write(`${text}\n`);
    if (id === undefined || method === undefined) {
      write(body);
      return new Response(null, { status: 202 });
    }
    init.signal?.addEventListener('abort', () => {
      if (!open.delete(id)) return;
      const params = { requestId: id };
      write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
    });
    return answerTo(id, open, () => write(body));
  };
}

/** Resolves with the first message: alone, if it is the response, or on the stream of all. */
function answerTo(id: unknown, open: Map<unknown, Open>, ask: () => void) {
  // A web stream's writer is not safe here: Node.js 20 fails on a write that races with a client that gives up.
  const stream = new PassThrough();
  const body = Readable.toWeb(stream) as ReadableStream<Uint8Array>;
  const all = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  return new Promise<Response>((resolve, reject) => {
    let isFirst = true;
    open.set(id, {
      length: 0,
      messages: 0,
      send(message) {
        if (isFirst && message.method === undefined) resolve(Response.json(message));
        isFirst = false;
        resolve(all);
        // Its client may have given up.
        if (stream.writable) stream.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
      },
      end(why) {
        reject(why);
        if (why) stream.destroy(why);
        else stream.end();
      },
    });
    ask();
  });
}

function parse(text: string): WireMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as WireMessage) : undefined;
  } catch {
    return undefined;
  }
}
