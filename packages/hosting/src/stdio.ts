/** stdio hosting: one connection, one process. stdout carries protocol only. */
import { serveStdio as serve } from '@modelcontextprotocol/server/stdio';
import { bounded } from './bounded.ts';
import { type OnError, reporting, type Served } from './served.ts';

/** How long handlers may take to end when they are told to. */
const DRAIN_MS = 10_000;

/** A connection. */
export interface StdioHosting {
  /** Resolves when the connection has ended: `close` was called, or the client closed our stdin. */
  readonly closed: Promise<void>;
  /** Ends the connection and everything that is held for it. */
  close(): Promise<void>;
}

/** Serves `served` over this process's stdin and stdout, to a client of either era. Errors go to stderr. */
export function serveStdio(served: Served, onerror: OnError = toStderr): StdioHosting {
  const handle = serve(() => reporting(served, onerror), { onerror });
  let closing: Promise<void> | undefined;
  let ended = () => {};
  const closed = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const close = () => {
    closing ??= bounded(served.close(), DRAIN_MS, onerror)
      .finally(() => handle.close())
      .finally(ended);
    return closing;
  };
  // A client that goes away closes our stdin; what it left behind must not keep the process.
  process.stdin.once('end', () => close().catch(onerror));
  return { closed, close };
}

const toStderr: OnError = (error) => void process.stderr.write(`${error.message}\n`);
