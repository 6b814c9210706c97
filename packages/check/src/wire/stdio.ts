/** stdio at 2026-07-28: one line of JSON for each message, to and from a started process. */
import { setTimeout as pause } from 'node:timers/promises';
import { MAX_BYTES, type ServerProcess, TOO_LONG } from '@mrtr/harness/internal';
import { type Channel, lateness, MAX_MESSAGES, OVER, type Patience } from './channel.ts';
import { isObject, parse } from './json.ts';
import { isResponse, replyFrom } from './reply.ts';
import { envelope } from './request.ts';

interface Waiting {
  readonly texts: string[];
  bytes: number;
  readonly answered: (why?: string) => void;
}

/** Sends requests over the standard streams of one process. Several may be in flight at once. */
export function stdioChannel(process: ServerProcess, { timeoutMs, over }: Patience): Channel {
  const inFlight = new Map<number, Waiting>();
  let lastId = 0;
  process.onLine((line) => take(line, inFlight, process));
  return {
    async send(request) {
      const id = ++lastId;
      const started = performance.now();
      const texts: string[] = [];
      const done = new AbortController();
      const { signal } = done;
      const answered = new Promise<string | undefined>((resolve) => {
        if (over.aborted) return resolve(OVER);
        inFlight.set(id, { texts, bytes: 0, answered: resolve });
        pause(timeoutMs, lateness(timeoutMs), { signal }).then(resolve, () => {});
        over.addEventListener('abort', () => resolve(OVER), { signal });
        const line = `${JSON.stringify(envelope(request, id))}\n`;
        process.write(line, () => resolve('the process has closed its standard input'));
        process.ended.then((how) => resolve(`the process ended (${how})`));
      });
      const otherwise = await answered;
      done.abort();
      inFlight.delete(id);
      const late = otherwise === lateness(timeoutMs);
      const kept = otherwise === TOO_LONG ? [] : texts;
      return replyFrom(kept, { id, started, ...(late && { late }) }, otherwise ?? 'no answer');
    },
  };
}

/** All requests share the channel, so a message without a known id belongs to every waiting request. */
function take(line: string, inFlight: ReadonlyMap<number, Waiting>, process: ServerProcess) {
  if (inFlight.size === 0 || line.trim() === '') return;
  const value = parse(line);
  const own = isObject(value) && isResponse(value) ? inFlight.get(value.id as number) : undefined;
  for (const waiting of own ? [own] : inFlight.values()) {
    waiting.bytes += line.length;
    if (waiting.bytes > MAX_BYTES) {
      waiting.answered(TOO_LONG);
      // The server would write for ever, and block this program.
      process.killNow();
    }
    if (own || waiting.texts.length < MAX_MESSAGES) waiting.texts.push(line);
  }
  own?.answered();
}
