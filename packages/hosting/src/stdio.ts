/** stdio hosting: one connection, one process. stdout carries protocol only. */
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { OperatorWarning } from '@mrtr/core/events';
import { aFunction, aTimeInSeconds, requireOptions } from '@mrtr/core/kit';
import {
  buildServer,
  type OnError,
  requireInstance,
  type ServerInstance,
} from './instance/server-instance.ts';
import { waitForHandlers } from './instance/wait-for-handlers.ts';

/** A message is a line; the SDK's own limit. */
const MAX_LINE_BYTES = 10_485_760;

/** Options of {@link serveOverStdio}. */
export interface StdioOptions {
  /** How long `close` lets handlers end, in seconds. Default 10. */
  readonly drainSeconds?: number;
  /** Gets the errors that the client does not see. Default: their messages go to stderr. */
  readonly onerror?: OnError;
}

/** A connection. */
export interface StdioHosting {
  /**
   * Resolves when the connection has ended: `close` was called, the client closed our stdin or our stdout, or it sent a
   * line of over 10 MiB. Then call `process.exit()`: a handler that hangs may keep the process.
   */
  readonly closed: Promise<void>;
  /** Ends the connection and everything that is held for it. */
  close(): Promise<void>;
}

/**
 * Serves `served` over this process's stdin and stdout, to a client of either era.
 *
 * @throws InvalidOption when `served` lacks one of its two functions, or an option is wrong.
 */
export function serveOverStdio(served: ServerInstance, options: StdioOptions = {}): StdioHosting {
  requireInstance('serveOverStdio', served);
  requireOptions<StdioOptions>('serveOverStdio', options, {
    drainSeconds: aTimeInSeconds,
    onerror: aFunction,
  });
  const { drainSeconds = 10, onerror = toStderr } = options;
  let ended = () => {};
  const closed = new Promise<void>((resolve) => {
    ended = resolve;
  });
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= waitForHandlers((async () => served.close?.())(), drainSeconds * 1000, onerror)
      .finally(() => handle.close())
      .finally(ended);
    return closing;
  };
  // The SDK ends a connection by itself, and tells nobody. What its client left behind must not keep the process.
  const transport = new Connection(() => void close().catch(onerror));
  const report = reportEachOnce(onerror);
  const handle = serveStdio(() => buildServer(served, report), { onerror: report, transport });
  return { closed, close };
}

/** Reports an error once: the SDK reports one of a connection twice, and of a line that is too long in its own words. */
function reportEachOnce(onerror: OnError): OnError {
  let last: Error | undefined;
  return (error) => {
    if (error === last) return;
    last = error;
    if (!error.message.startsWith('ReadBuffer exceeded')) return onerror(error);
    const why = `The client sent a line of over ${MAX_LINE_BYTES} bytes, so the connection was ended.`;
    onerror(new OperatorWarning('line_too_long', `${why} Send messages that are shorter.`, { cause: error }));
  };
}

/** The SDK's transport, which also says that it has ended. */
class Connection extends StdioServerTransport {
  readonly #ended: () => void;

  constructor(ended: () => void) {
    super(process.stdin, process.stdout, { maxBufferSize: MAX_LINE_BYTES });
    this.#ended = ended;
  }

  override async close(): Promise<void> {
    await super.close();
    this.#ended();
  }
}

const toStderr: OnError = (error) => void process.stderr.write(`${error.message}\n`);
