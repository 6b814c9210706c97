/** Carries one request and its response, on a connection of Node or in a web-standard `fetch`. */
import { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import type { AuthInfo } from '@modelcontextprotocol/server';

/**
 * The destination of a response, such as a `ServerResponse` of Node. It emits `drain`, and emits `close` when the response
 * was sent or its client disconnected.
 */
export interface Outgoing extends EventEmitter {
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  /** The unsent bytes of the connection. */
  readonly writableLength: number;
  setHeader(name: string, value: string): unknown;
  /** Ends the connection. */
  destroy(): unknown;
}

/** One request that is being served. */
export interface Exchange {
  readonly outgoing: Outgoing;
  /** The body as a stream. Undefined if nothing is left to read. */
  readonly incoming: Readable | undefined;
  /** The body, if a middleware has parsed it. */
  readonly parsedBody: unknown;
  /** The caller, if a middleware has authenticated it. */
  readonly authInfo: AuthInfo | undefined;
}

/** A complete body. */
export interface Body {
  readonly json: unknown;
  readonly bytes: number;
}

/** A request that passed the checks, and its sender. */
export interface AdmittedRequest {
  readonly request: Request;
  readonly outgoing: Outgoing;
  readonly body: Body | undefined;
  readonly authInfo: AuthInfo | undefined;
  readonly principal: string | undefined;
}

/** Resolves when the response was sent, or its client disconnected. Node also emits `close` when the stream breaks. */
export const whenClosed = (outgoing: Outgoing): Promise<void> =>
  new Promise((resolve) => {
    if (outgoing.destroyed) resolve();
    else outgoing.once('close', resolve);
  });

/** The response of a web-standard `fetch`. The runtime owns the connection, and hides it. */
export class WebOutgoing extends EventEmitter implements Outgoing {
  destroyed = false;
  readonly headersSent = true;
  readonly writableLength = 0;

  setHeader() {}

  destroy() {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

/**
 * Calls `done` once, when the response has ended: its body was sent, failed or was cancelled, or the request's signal
 * fired.
 */
export function whenSent(request: Request, response: Response, done: () => void): Response {
  if (!response.body) {
    done();
    return response;
  }
  const reader = response.body.getReader();
  const end = () => {
    over();
    reader.cancel().catch(() => {});
  };
  // Reference the request: otherwise Node may garbage-collect the code that forwards a signal to it.
  const over = () => {
    request.signal.removeEventListener('abort', end);
    done();
    done = () => {};
  };
  request.signal.addEventListener('abort', end);
  if (request.signal.aborted) end();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done: ended, value } = await reader.read();
        if (!ended) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      over();
    },
    cancel: end,
  });
  return new Response(body, response);
}
