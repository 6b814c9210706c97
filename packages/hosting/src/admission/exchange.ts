/** What carries one request and its response: a connection of Node, or a runtime's web-standard `fetch`. */
import { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import type { AuthInfo } from '@modelcontextprotocol/server';

/**
 * Where a response goes. A `ServerResponse` of Node is one. It emits `drain`, and `close` when the response has been sent
 * or its client has gone.
 */
export interface Outgoing extends EventEmitter {
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  /** Bytes that the connection has not sent. */
  readonly writableLength: number;
  setHeader(name: string, value: string): unknown;
  /** Ends the connection. */
  destroy(): unknown;
}

/** One request on its way. */
export interface Exchange {
  readonly outgoing: Outgoing;
  /** The body as it comes in. Undefined where there is none to read. */
  readonly incoming: Readable | undefined;
  /** The body, where a parser in front has read it. */
  readonly parsedBody: unknown;
  /** The caller, where the application in front has authenticated it. */
  readonly authInfo: AuthInfo | undefined;
}

/** The response of a web-standard `fetch`. The connection belongs to the runtime, which tells nothing of it. */
export class WebOutgoing extends EventEmitter implements Outgoing {
  destroyed = false;
  readonly headersSent = true;
  readonly writableLength = 0;

  setHeader(): void {}

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}
