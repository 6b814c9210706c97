/** Streamable HTTP at 2026-07-28: a POST for each request, whose answer is JSON or an event stream. */
import { type Channel, lateness, MOST_BYTES, type SendOptions, TOO_LONG } from './channel.ts';
import { parsed } from './json.ts';
import { isResponse, type Reply, replyFrom } from './reply.ts';
import { enveloped, mirroringHeaders, type WireRequest } from './request.ts';

/** Requests to one address, by one principal. */
export class HttpChannel implements Channel {
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  #lastId = 0;

  /** @param timeoutMs how long one answer may take */
  constructor(url: URL, headers: Readonly<Record<string, string>>, timeoutMs: number) {
    this.#url = url;
    this.#headers = headers;
    this.#timeoutMs = timeoutMs;
  }

  async send(request: WireRequest, { cut = false }: SendOptions = {}): Promise<Reply> {
    const id = ++this.#lastId;
    const started = performance.now();
    const stop = new AbortController();
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      stop.abort();
    }, this.#timeoutMs);
    const texts: string[] = [];
    let carried: { readonly status?: number; readonly contentType?: string } = {};
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: { ...mirroringHeaders(request), ...this.#headers },
        body: JSON.stringify(enveloped(request, id)),
        signal: stop.signal,
        redirect: 'manual',
      });
      carried = { status: response.status, contentType: response.headers.get('content-type') ?? '' };
      if (cut) return await this.#cut(response, stop, { id, started, ...carried });
      await readInto(texts, response);
      return replyFrom(texts, { id, started, ...carried, otherwise: withoutResponse(response, texts) });
    } catch (error) {
      const otherwise = late ? lateness(this.#timeoutMs) : `the connection failed: ${reason(error)}`;
      return replyFrom(texts, {
        id,
        started,
        ...carried,
        otherwise,
        ...(late ? { late: true as const } : {}),
      });
    } finally {
      clearTimeout(timer);
    }
  }

  /** A JSON response comes when the work is done; a stream may begin before, so its first bytes are waited for. */
  async #cut(
    response: Response,
    stop: AbortController,
    carried: { id: number; started: number; status?: number; contentType?: string },
  ): Promise<Reply> {
    if (carried.contentType?.includes('text/event-stream')) await response.body?.getReader().read();
    stop.abort();
    const otherwise = 'the client cut the connection before it read the answer';
    return { ...replyFrom([], { ...carried, otherwise }), cut: true };
  }
}

const reason = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
};

function withoutResponse(response: Response, texts: readonly string[]): string {
  const type = response.headers.get('content-type') ?? 'no content type';
  const body = (texts[0] ?? '').slice(0, 200);
  return `HTTP ${response.status} (${type}) without a JSON-RPC response${body === '' ? '' : `: ${body}`}`;
}

/** Reads the messages: one JSON text, or the data of each event until the response has come. */
async function readInto(texts: string[], response: Response): Promise<void> {
  const stream = (response.headers.get('content-type') ?? '').includes('text/event-stream');
  let rest = '';
  let read = 0;
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    read += chunk.length;
    rest += decoder.decode(chunk, { stream: true });
    if (stream) {
      const events = rest.split(/\r\n\r\n|\n\n|\r\r/);
      rest = events.pop() ?? '';
      for (const event of events) takeEvent(texts, event);
      if (texts.some((text) => isResponse(parsed(text)))) break;
    }
    if (read > MOST_BYTES) throw new Error(TOO_LONG);
  }
  if (stream) takeEvent(texts, rest);
  else if (rest !== '') texts.push(rest);
}

function takeEvent(texts: string[], event: string): void {
  const data = event
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).replace(/^ /, ''));
  if (data.length > 0 && data.join('') !== '') texts.push(data.join('\n'));
}
