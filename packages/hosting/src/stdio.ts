/** stdio hosting: one connection, one process. stdout carries protocol only. */
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { aFunction, aTimeInSeconds, onOneLine, requireOptions } from '@mrtr/core/internal';
import {
  buildServer,
  type OnError,
  requireInstance,
  type ServerInstance,
  waitForHandlers,
} from './server-instance.ts';

/** The limit of a message, which is a line. It is the SDK's own. */
const MAX_LINE_BYTES = 10_485_760;

/** Options of {@link serveOverStdio}. */
export interface StdioOptions {
  /** How long `close` waits for handlers, in seconds. Default 10. */
  readonly drainSeconds?: number;
  /** Receives the errors that the client does not see. Default: writes each message to stderr, escaped on one line. */
  readonly onerror?: OnError;
}

/** A connection. */
export interface StdioHosting {
  /**
   * Resolves when the connection has ended: `close` was called, or the client closed stdin or stdout, or it sent a line of
   * over 10 MiB. Then call `process.exit()`: a hanging handler may keep the process alive.
   */
  readonly closed: Promise<void>;
  /** Closes the served instance, waits for handlers, and ends the connection. */
  close(): Promise<void>;
}

/**
 * Serves `served` over this process's stdin and stdout, to a client of either era.
 *
 * @throws InvalidOption for `served` without `server`, and for an unknown or invalid option.
 * @example
 * const { closed } = serveOverStdio({ server: createServer });
 * await closed;
 * process.exit();
 */
export function serveOverStdio(served: ServerInstance, options: StdioOptions = {}): StdioHosting {
  requireInstance('serveOverStdio', served);
  requireOptions('serveOverStdio', options, {
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
  // When the SDK itself ends the connection, close everything, so that nothing keeps the process alive.
  const transport = new Connection(() => void close().catch(onerror));
  const report = reportEachOnce(onerror);
  const handle = serveStdio(() => buildServer(served, report), { onerror: report, transport });
  return { closed, close };
}

/** Reports each error once. The SDK reports an error of a connection twice. */
function reportEachOnce(onerror: OnError): OnError {
  let last: Error | undefined;
  return (error) => {
    if (error !== last) onerror(error);
    last = error;
  };
}

/** The SDK's transport, which also reports its end. */
class Connection extends StdioServerTransport {
  readonly #ended: () => void;

  constructor(ended: () => void) {
    super(process.stdin, process.stdout, { maxBufferSize: MAX_LINE_BYTES });
    this.#ended = ended;
  }

  override async close() {
    await super.close();
    this.#ended();
  }
}

const toStderr: OnError = (error) => void process.stderr.write(`${onOneLine(error).message}\n`);
