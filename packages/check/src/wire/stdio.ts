/** stdio at 2026-07-28: a line of JSON for each message, both ways, over a process of ours. */
import type { ServerProcess } from '../target/process.ts';
import { type Channel, lateness, MOST_BYTES, TOO_LONG } from './channel.ts';
import { isObject, parsed } from './json.ts';
import { isResponse, type Reply, replyFrom } from './reply.ts';
import { enveloped, type WireRequest } from './request.ts';

/** Of messages before an answer, no more are kept. */
const MOST_MESSAGES = 10_000;

interface Waiting {
  readonly texts: string[];
  bytes: number;
  readonly answered: (how?: 'long') => void;
}

/** Requests over the standard streams of one process. Several may be under way at once. */
export class StdioChannel implements Channel {
  readonly #process: ServerProcess;
  readonly #timeoutMs: number;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  /** @param timeoutMs how long one answer may take */
  constructor(process: ServerProcess, timeoutMs: number) {
    this.#process = process;
    this.#timeoutMs = timeoutMs;
    process.onLine((line) => this.#take(line));
  }

  async send(request: WireRequest): Promise<Reply> {
    const id = ++this.#lastId;
    const started = performance.now();
    const texts: string[] = [];
    let timer: NodeJS.Timeout | undefined;
    const answered = new Promise<'long' | undefined>((resolve) => {
      this.#waiting.set(id, { texts, bytes: 0, answered: resolve });
    });
    const tooLate = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), this.#timeoutMs);
    });
    const ended = this.#process.ended.then((how) => ({ how }));
    this.#process.write(`${JSON.stringify(enveloped(request, id))}\n`);
    const how = await Promise.race([answered, tooLate, ended]);
    clearTimeout(timer);
    this.#waiting.delete(id);
    if (how === 'late')
      return replyFrom(texts, { id, started, otherwise: lateness(this.#timeoutMs), late: true });
    if (how === 'long') return replyFrom([], { id, started, otherwise: TOO_LONG });
    const otherwise = how === undefined ? 'no answer' : `the process ended (${how.how})`;
    return replyFrom(texts, { id, started, otherwise });
  }

  /** All requests share the channel, so a message without an id of ours belongs to each that waits. */
  #take(line: string): void {
    if (line.trim() === '') return;
    const value = parsed(line);
    const own = isObject(value) && isResponse(value) ? this.#waiting.get(value.id as number) : undefined;
    for (const waiting of own ? [own] : this.#waiting.values()) {
      waiting.bytes += line.length;
      if (waiting.bytes > MOST_BYTES) waiting.answered('long');
      else if (own || waiting.texts.length < MOST_MESSAGES) waiting.texts.push(line);
    }
    own?.answered();
  }
}
