/** The program that a client starts as its server: why it ended, in the error of the call that it ends. */
import { finished, type Readable } from 'node:stream';
import type { Endpoint } from '../hosts/endpoint.ts';

/** How much of its stderr is kept: the last characters. */
const KEPT = 8000;

/** The parts of a stdio transport that are watched. v1's and v2's transports have them alike. */
interface StdioTransport {
  readonly stderr: unknown;
  onclose?: (() => void) | undefined;
  close(): Promise<void>;
}

/** Turns the error of a call into the reason why the program ended, where it ended before its client closed. */
export type Explain = (error: unknown) => Promise<never>;

export const rethrow: Explain = async (error) => {
  throw error;
};

/** Watches the transport to a program, from before it starts. */
export function watchProgram(
  transport: StdioTransport,
  { onStderr }: Extract<Endpoint, { kind: 'stdio' }>,
): Explain {
  const stderr = transport.stderr as Readable;
  let written = '';
  let [closing, ended] = [false, false];
  stderr.setEncoding('utf8').on('data', (text: string) => {
    written = (written + text).slice(-KEPT);
    onStderr?.(text);
  });
  const close = transport.close.bind(transport);
  transport.close = () => {
    closing = true;
    return close();
  };
  transport.onclose = () => {
    ended ||= !closing;
  };
  return async (cause) => {
    const { syscall, message } = cause as NodeJS.ErrnoException;
    if (syscall?.startsWith('spawn')) {
      throw new Error(`The server could not be started: ${message}`, { cause });
    }
    if (!ended) throw cause;
    await new Promise((resolve) => finished(stderr, resolve));
    throw new Error(`The server ended: ${reasonIn(written)}`, { cause });
  };
}

/** The line that names the error: what Node.js and Python print of an uncaught one, or else the last line. */
function reasonIn(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trimEnd());
  const named = lines.findLast((line) => /^(?:Uncaught )?[A-Z][\w$.]*(?: \[\w+\])?: \S/.test(line));
  const last = lines.findLast((line) => line !== '' && !/^(?: +at |Node\.js v)/.test(line));
  return named ?? last ?? 'it wrote nothing to stderr.';
}
