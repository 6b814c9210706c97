/** stdio at 2026-07-28: one line of JSON for each message, to and from a started process. */
import { type Channel, lateness, MAX_BYTES, MAX_MESSAGES, OVER, type Patience, TOO_LONG } from './channel.ts';
import { isObject, parse } from './json.ts';
import type { ServerProcess } from './process.ts';
import { isResponse, type Reply, replyFrom } from './reply.ts';
import { envelope, type WireRequest } from './request.ts';

interface Waiting {
  readonly texts: string[];
  bytes: number;
  readonly answered: (why?: string) => void;
}

/** Sends requests over the standard streams of one process. Several may be in flight at once. */
export class StdioChannel implements Channel {
  readonly #process: ServerProcess;
  readonly #patience: Patience;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  constructor(process: ServerProcess, patience: Patience) {
    this.#process = process;
    this.#patience = patience;
    process.onLine((line) => this.#take(line));
  }

  async send(request: WireRequest): Promise<Reply> {
    const id = ++this.#lastId;
    const started = performance.now();
    const texts: string[] = [];
    const otherwise = await this.#waitForAnswer(id, texts, `${JSON.stringify(envelope(request, id))}\n`);
    this.#waiting.delete(id);
    const late = otherwise === lateness(this.#patience.timeoutMs);
    const kept = otherwise === TOO_LONG ? [] : texts;
    return replyFrom(kept, { id, started, otherwise: otherwise ?? 'no answer', ...(late && { late }) });
  }

  async #waitForAnswer(id: number, texts: string[], line: string): Promise<string | undefined> {
    const { timeoutMs, over } = this.#patience;
    if (over.aborted) return OVER;
    let undo = () => {};
    const answered = new Promise<string | undefined>((resolve) => {
      this.#waiting.set(id, { texts, bytes: 0, answered: resolve });
      const timer = setTimeout(() => resolve(lateness(timeoutMs)), timeoutMs);
      const giveUp = () => resolve(OVER);
      over.addEventListener('abort', giveUp);
      undo = () => {
        clearTimeout(timer);
        over.removeEventListener('abort', giveUp);
      };
      this.#process.write(line, () => resolve('the process has closed its standard input'));
      this.#process.ended.then((how) => resolve(`the process ended (${how})`));
    });
    return answered.finally(() => undo());
  }

  /** All requests share the channel, so a message without a known id belongs to every waiting request. */
  #take(line: string): void {
    if (this.#waiting.size === 0 || line.trim() === '') return;
    const value = parse(line);
    const own = isObject(value) && isResponse(value) ? this.#waiting.get(value.id as number) : undefined;
    for (const waiting of own ? [own] : this.#waiting.values()) {
      waiting.bytes += line.length;
      if (waiting.bytes > MAX_BYTES) {
        waiting.answered(TOO_LONG);
        // The server would write for ever, and block this program.
        this.#process.killNow();
      }
      if (own || waiting.texts.length < MAX_MESSAGES) waiting.texts.push(line);
    }
    own?.answered();
  }
}
