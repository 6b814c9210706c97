/** Receives the bodies of requests, and limits their bytes and their time while they arrive. */
import type { Readable } from 'node:stream';
import { Quota } from '@mrtr/core/internal';
import type { Body, Exchange } from './exchange.ts';
import type { Limits } from './limits.ts';
import { rejectFull, rejectHttp } from './rejections.ts';

/** How long a body may take to arrive, in seconds. */
export const BODY_SECONDS = 30;
/** The members that a body may have, for each MiB that it may have. Also of a smaller body. */
export const MEMBERS_PER_MIB = 10_000;

/** The limit of an `initialize`, which its session keeps. */
export const MAX_INITIALIZE_BYTES = 65_536;
/** The limit of members in values that the SDK validates deeply: `initialize`, and each `_meta` since 2026-07-28. */
export const MAX_DECLARED_MEMBERS = 1000;

const EMPTY = Buffer.alloc(0);
/** The error for an application that reads a body and does not pass it on. */
export const bodyWasRead = (): Error =>
  new Error(
    'The body of a request was read before it came here. Hand on what was read: handle(req, res, body), or ' +
      'fetch(request, { parsedBody: body }).',
  );

const FIRST_BYTES = 4096;
const LAST = { connection: 'close' };
const decoder = new TextDecoder();

/**
 * Reads bodies. Hono's `bodyLimit` limits the size of one body only. It has no time limit and no total over all bodies,
 * and it keeps every chunk: a client can send a million chunks of one byte.
 */
export function bodyReader(limits: Pick<Limits, 'bytes' | 'bodyBytes' | 'perPrincipal'>) {
  const { bodyBytes } = limits;
  const members = Math.floor(MEMBERS_PER_MIB * Math.max(1, bodyBytes / 1_048_576));
  const arriving = new Quota(limits.bytes, limits.perPrincipal);

  /**
   * Reads a message once, and rejects batches and messages that are expensive to validate. Without a read message, the SDK
   * clones the request to classify it, and parses it twice.
   */
  async function readMessage(...request: Parameters<typeof read>): Promise<Body | Response> {
    const body = await read(...request);
    return body instanceof Response ? body : (rejectMessage(body) ?? body);
  }

  async function read(
    { headers }: Request,
    { incoming, parsedBody }: Pick<Exchange, 'incoming' | 'parsedBody'>,
    principal: string | undefined,
  ): Promise<Body | Response> {
    if (!/^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? ''))
      return rejectHttp(415, 'http_invalid', 'Content-Type must be application/json');
    if (headers.has('content-encoding')) return rejectHttp(415, 'http_invalid', 'A body must not be encoded');
    if (typeof parsedBody === 'string') return parse(Buffer.from(parsedBody));
    if (parsedBody instanceof Uint8Array) return parse(parsedBody);
    if (parsedBody !== undefined) return measure(parsedBody);
    const received = await readBytes(headers, incoming, principal);
    return received instanceof Response ? received : parse(received);
  }

  function parse(received: Uint8Array): Body | Response {
    if (received.length > bodyBytes) return tooLong();
    const text = decoder.decode(received);
    if (hasMoreMembers(text, members)) return tooWide();
    try {
      return { json: JSON.parse(text), bytes: received.length };
    } catch {
      return rejectHttp(400, 'http_invalid', 'Parse error', {}, -32700);
    }
  }

  /** Measures a body that a middleware parsed. Its `Content-Length` may be that of another encoding. */
  function measure(json: unknown): Body | Response {
    if (isWiderThan(json, members)) return tooWide();
    const bytes = Buffer.byteLength(JSON.stringify(json));
    return bytes > bodyBytes ? tooLong() : { json, bytes };
  }

  /**
   * Reads a whole body of any type, or returns the rejection and discards the rest.
   *
   * @throws Error if a middleware has read it, or its client disconnects before its end.
   */
  async function readBytes(headers: Headers, body: Readable | undefined, principal: string | undefined) {
    if (!body) return EMPTY;
    if (body.readableEnded) throw bodyWasRead();
    if (Number(headers.get('content-length')) > bodyBytes) return tooLong();
    const held = bodyBuffer(arriving, principal);
    return new Promise<Buffer | Response>((resolve, reject) => {
      const late = setTimeout(
        () =>
          end(
            rejectHttp(
              408,
              'http_invalid',
              `A body has to come in within ${BODY_SECONDS} seconds; send it again`,
              LAST,
            ),
          ),
        BODY_SECONDS * 1000,
      );
      const end = (received: Buffer | Response | Error) => {
        clearTimeout(late);
        body.off('data', take).off('close', endAsGone);
        // Discard the rest. An unread body would block the connection.
        body.resume();
        held.release();
        if (received instanceof Error) reject(received);
        else resolve(received);
      };
      const endAsGone = () => end(new Error('The client went away before the end of its request'));
      const take = (chunk: Buffer) => {
        if (held.bytes().length + chunk.length > bodyBytes) return end(tooLong());
        const full = held.add(chunk, bodyBytes);
        if (full) end(rejectFull(full, 'bytes of requests coming in', LAST));
      };
      if (body.destroyed) return endAsGone();
      body
        .on('data', take)
        .once('end', () => end(held.bytes()))
        .once('error', endAsGone)
        .once('close', endAsGone);
    });
  }

  function tooWide() {
    return rejectHttp(
      413,
      'http_invalid',
      `A body has at most ${members} members of objects and arrays; send less`,
    );
  }

  function tooLong() {
    return rejectHttp(413, 'http_invalid', `A body has at most ${bodyBytes} bytes; send less`, LAST);
  }

  return {
    read,
    readMessage,
    readBytes,
    get incoming() {
      return arriving.total;
    },
  };
}

function rejectMessage({ json, bytes }: Body) {
  // Revisions since 2025-06-18 have no batches. A batch of 100 calls would count as one request.
  if (Array.isArray(json))
    return rejectHttp(400, 'http_invalid', 'Send one message at a time, not a batch', {}, -32600);
  const { method, params } = (json ?? {}) as { method?: unknown; params?: { _meta?: unknown } | null };
  const initializes = method === 'initialize';
  if (initializes && (bytes > MAX_INITIALIZE_BYTES || isWiderThan(params, MAX_DECLARED_MEMBERS))) {
    const most = `${MAX_INITIALIZE_BYTES} bytes and ${MAX_DECLARED_MEMBERS} members of objects and arrays`;
    return rejectHttp(413, 'http_invalid', `An initialize has at most ${most}; declare less`);
  }
  if (isWiderThan(params?._meta, MAX_DECLARED_MEMBERS))
    return rejectHttp(
      413,
      'http_invalid',
      `_meta has at most ${MAX_DECLARED_MEMBERS} members of objects and arrays; send less`,
    );
  return undefined;
}

/** The bytes of one body so far, in one piece. */
function bodyBuffer(quota: Quota, principal: string | undefined) {
  let [buffer, length] = [EMPTY, 0];
  return {
    bytes: () => buffer.subarray(0, length),

    /** Adds a chunk, or returns the exceeded limit. */
    add(chunk: Buffer, maxBytes: number) {
      const needed = length + chunk.length;
      const { length: size } = buffer;
      if (needed > size) {
        const larger = Math.min(maxBytes, Math.max(needed, 2 * size, FIRST_BYTES));
        const full = quota.take(principal, larger - size);
        if (full) return full;
        buffer = Buffer.concat([buffer], larger);
      }
      chunk.copy(buffer, length);
      length = needed;
      return undefined;
    },

    release() {
      quota.giveBack(principal, buffer.length);
      [buffer, length] = [EMPTY, 0];
    },
  };
}

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [...'"\\,[{'].map((character) => character.charCodeAt(0));

/**
 * Whether JSON text has more than `most` members. Does not parse it: each "[", "{" and "," counts one. The cost of a request
 * depends on its members more than on its bytes: the SDK takes 8 ms for a MiB of one string, and up to 1600 ms for a MiB
 * of 110 000 keys.
 */
function hasMoreMembers(json: string, most: number) {
  // Each member takes a character, so a short body needs no scan.
  if (json.length <= most) return false;
  let members = 0;
  let inString = false;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (inString && code === BACKSLASH) at++;
    else if (code === QUOTE) inString = !inString;
    else if (!inString && (code === COMMA || code === BRACKET || code === BRACE) && ++members > most)
      return true;
  }
  return false;
}

/** Whether a parsed value has more than `most` members on all levels together. */
function isWiderThan(value: unknown, most: number) {
  const found = [value];
  for (let at = 0; at < found.length; at++) {
    const next = found[at];
    if (typeof next !== 'object' || next === null) continue;
    for (const member of Object.values(next)) if (found.push(member) > most + 1) return true;
  }
  return false;
}
