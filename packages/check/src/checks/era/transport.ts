/** Connects the client of the published v1 SDK to an instance. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Instance } from '../../target/instance.ts';
import type { Address } from '../../target/target.ts';
import { MAX_BYTES, TOO_LONG } from '../../wire/channel.ts';
import { parse } from '../../wire/json.ts';
import { ServerProcess } from '../../wire/process.ts';

/** Returns a transport for one connection. Over stdio it starts its own process, as an old client does. */
export async function legacyTransport(instance: Instance, { headers }: Address) {
  if (instance.kind === 'stdio') return new ProcessTransport(instance.command);
  return new StreamableHTTPClientTransport(instance.url as URL, {
    // Follow no redirect: the headers may hold credentials for this server only.
    requestInit: { headers: { ...headers }, redirect: 'error' },
    fetch: async (url, init) => limitBody(await fetch(url, init)),
  }) as Transport;
}

/** Limits the body, because the SDK reads one of any length. */
function limitBody(response: Response) {
  if (response.body === null) return response;
  let read = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      read += chunk.length;
      if (read > MAX_BYTES) controller.error(new Error(TOO_LONG));
      else controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(count), response);
}

/** Replaces the SDK's stdio transport, which cannot kill the children of a wrapper. */
class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #command: readonly string[];
  #process: ServerProcess | undefined;

  constructor(command: readonly string[]) {
    this.#command = command;
  }

  async start() {
    const [program = '', ...args] = this.#command;
    const started = new ServerProcess(program, args);
    this.#process = started;
    started.onLine((line) => {
      const message = parse(line);
      if (message !== undefined) this.onmessage?.(message as JSONRPCMessage);
    });
    started.ended.then(() => this.onclose?.());
  }

  async send(message: JSONRPCMessage) {
    this.#process?.write(`${JSON.stringify(message)}\n`);
  }

  async close() {
    await this.#process?.kill();
  }
}
