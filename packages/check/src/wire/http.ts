/** Streamable HTTP at 2026-07-28: one POST for each request, answered by JSON or an event stream. */
import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import { limitBody, TOO_LONG } from '@mrtr/harness/internal';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { type Channel, lateness, MAX_MESSAGES, OVER, type Patience } from './channel.ts';
import { type JsonObject, parse, shorten, type Texts } from './json.ts';
import { type Carried, isResponse, replyFrom, type ServerReply } from './reply.ts';
import { envelope, mirroringHeaders } from './request.ts';

export interface Posting {
  readonly url: URL;
  readonly headers: Texts;
  readonly message: JsonObject & { readonly id: number };
  readonly patience: Patience;
  readonly cut?: boolean | undefined;
}

let lastId = 0;

export const httpChannel = (url: URL, headers: Texts, patience: Patience): Channel => ({
  send(request) {
    const own = { ...mirroringHeaders(request), ...headers };
    return post({ url, headers: own, message: envelope(request, ++lastId), patience, cut: request.cut });
  },
});

/** The shortest wait: `Retry-After: 0` would loop without a pause. */
const LEAST_WAIT_MS = 100;

/** Posts a message. After HTTP 429 it posts again, because the server has not handled the message. */
export async function post(posting: Posting): Promise<ServerReply> {
  const { timeoutMs, over } = posting.patience;
  for (let waited = 0; ; ) {
    const reply = await postOnce(posting);
    const { status, retryAfterMs = Number.POSITIVE_INFINITY } = reply;
    const wait = Math.max(retryAfterMs, LEAST_WAIT_MS);
    waited += wait;
    if (status !== 429 || waited > timeoutMs || over.aborted) return reply;
    await pause(wait, undefined, { signal: over }).catch(() => {});
  }
}

/** Posts a message and reads the reply. Never rejects because of the server. */
async function postOnce({ url, headers, message, patience, cut }: Posting): Promise<ServerReply> {
  const started = performance.now();
  const stop = new AbortController();
  const late = AbortSignal.timeout(patience.timeoutMs);
  const texts: string[] = [];
  let carried: Carried = { id: message.id, started };
  try {
    // Turn the event loop, to notice connections that the server closed while this program was blocked.
    for (let turn = 0; turn < 2; turn++) await setImmediate();
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify(message),
      signal: AbortSignal.any([stop.signal, late, patience.over]),
      redirect: 'manual',
    });
    carried = { ...carried, ...readHeaders(response) };
    if (cut) return await cutOff(response, stop, carried);
    await readInto(texts, response);
    return replyFrom(texts, carried, withoutResponse(response, texts));
  } catch (error) {
    if (!patience.over.aborted && late.aborted)
      return replyFrom(texts, { ...carried, late: true }, lateness(patience.timeoutMs));
    const why = reason(error);
    const words = why === TOO_LONG ? why : `the connection failed: ${why}`;
    return replyFrom(texts, carried, patience.over.aborted ? OVER : words);
  }
}

function readHeaders({
  status,
  headers,
}: Response): Pick<Carried, 'status' | 'contentType' | 'retryAfterMs'> {
  const seconds = /^\d{1,6}$/.exec(headers.get('retry-after') ?? '')?.[0];
  return {
    status,
    contentType: headers.get('content-type') ?? '',
    ...(seconds !== undefined && { retryAfterMs: Number(seconds) * 1000 }),
  };
}

/** Cuts the connection. A JSON response begins when the work is done; a stream may begin earlier, so wait for its first bytes. */
async function cutOff(response: Response, stop: AbortController, carried: Carried): Promise<ServerReply> {
  if (carried.contentType?.includes('text/event-stream')) await response.body?.getReader().read();
  stop.abort();
  const otherwise = 'the client cut the connection before it read the answer';
  return { ...replyFrom([], carried, otherwise), cut: true };
}

const reason = (error: unknown) => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
};

function withoutResponse({ status, headers }: Response, texts: readonly string[]) {
  const type = headers.get('content-type') ?? 'no content type';
  const elsewhere = headers.get('location');
  if (status >= 300 && status < 400 && elsewhere !== null)
    return `HTTP ${status}, which sends clients to ${shorten(elsewhere, 200)}: if that is the server, give that address`;
  const body = shorten(texts[0] ?? '', 200);
  return `HTTP ${status} (${type}) without a JSON-RPC response${body === '' ? '' : `: ${body}`}`;
}

async function readInto(texts: string[], answer: Response) {
  const response = limitBody(answer);
  if (!(response.headers.get('content-type') ?? '').includes('text/event-stream')) {
    const text = await response.text();
    if (text !== '') texts.push(text);
    return;
  }
  let answered = false;
  const onEvent = ({ data }: EventSourceMessage) => {
    if (data === '' || answered) return;
    answered = isResponse(parse(data));
    if (answered || texts.length < MAX_MESSAGES) texts.push(data);
  };
  const events = createParser({ onEvent });
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    events.feed(part);
    if (answered) return;
  }
  // A stream may end without an empty line after its last event.
  events.feed('\n\n');
}
