/** Explains a call's error by the end of the program that the client started as its server. */
import { finished, type Readable } from 'node:stream';
import type { Endpoint } from '../hosts/endpoint.ts';

/** How many of the last characters of stderr to keep. */
const KEPT = 8000;

/** The watched parts of a stdio transport, equal in v1 and v2. */
interface StdioTransport {
  readonly stderr: unknown;
  onclose?: (() => void) | undefined;
  close(): Promise<void>;
}

/** Replaces the error of a call by the reason of the program's end, if it ended before its client closed. */
export type Explain = (error: unknown) => Promise<never>;

export const rethrow: Explain = async (error) => {
  throw error;
};

type StdioEndpoint = Extract<Endpoint, { kind: 'stdio' }>;

/** Makes the transport to a program, of either SDK. The program starts when the client connects. */
export function transportToProgram<T extends StdioTransport>(
  endpoint: StdioEndpoint,
  Transport: new (program: {
    command: string;
    args: string[];
    env: Record<string, string>;
    stderr: 'pipe';
  }) => T,
): readonly [T, Explain] {
  const { command, args, env = {} } = endpoint;
  const transport = new Transport({ command, args: [...args], env, stderr: 'pipe' });
  return [transport, watchProgram(transport, endpoint)];
}

function watchProgram(transport: StdioTransport, { onStderr }: StdioEndpoint): Explain {
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

/** The line with the error: that of an uncaught error of Node.js or Python, otherwise the last line. */
function reasonIn(stderr: string) {
  const lines = stderr.split('\n').map((line) => line.trimEnd());
  const named = lines.findLast((line) => /^(?:Uncaught )?[A-Z][\w$.]*(?: \[\w+\])?: \S/.test(line));
  const last = lines.findLast((line) => line !== '' && !/^(?: +at |Node\.js v)/.test(line));
  return named ?? last ?? 'it wrote nothing to stderr.';
}
