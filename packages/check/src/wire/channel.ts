/** A connection to one instance of a server. */
import type { ServerReply } from './reply.ts';
import type { WireRequest } from './request.ts';

/** Sends requests. Never rejects because of the server: the reply's `failure` has the reason. */
export interface Channel {
  send(request: WireRequest): Promise<ServerReply>;
}

export interface Patience {
  readonly timeoutMs: number;
  /** Aborted when the run is over: stops sending and waiting. */
  readonly over: AbortSignal;
}

export const OVER = 'the run is over';

/** The limit of messages to keep before an answer. */
export const MAX_MESSAGES = 1000;

export const lateness = (timeoutMs: number) =>
  `no answer in ${timeoutMs < 1000 ? `${timeoutMs} ms` : `${timeoutMs / 1000} s`}`;
