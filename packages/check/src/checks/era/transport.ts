/** How the published v1 SDK's client reaches an instance. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Instance } from '../../target/instance.ts';
import type { Address } from '../../target/target.ts';
import { MAX_BYTES, TOO_LONG } from '../../wire/channel.ts';
import { parse } from '../../wire/json.ts';
import { ServerProcess } from '../../wire/process.ts';

/** A transport for one connection; over stdio it starts a process of its own, as an old client would. */
export async function legacyTransport(instance: Instance, { headers }: Address): Promise<Transport> {
  if (instance.kind === 'stdio') return new ProcessTransport(instance.command);
  return new StreamableHTTPClientTransport(instance.url as URL, {
    // The headers are for this server, and not for one that it sends us to.
    requestInit: { headers: { ...headers }, redirect: 'error' },
    fetch: async (url, init) => limitBody(await fetch(url, init)),
  }) as Transport;
}

/** The SDK reads a body to its end, however long it is. */
function limitBody(response: Response): Response {
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

/** The SDK's own stdio transport cannot kill what a wrapper started. */
class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #command: readonly string[];
  #process: ServerProcess | undefined;

  constructor(command: readonly string[]) {
    this.#command = command;
  }

  async start(): Promise<void> {
    const [program = '', ...args] = this.#command;
    const started = new ServerProcess(program, args);
    this.#process = started;
    started.onLine((line) => {
      const message = parse(line);
      if (message !== undefined) this.onmessage?.(message as JSONRPCMessage);
    });
    started.ended.then(() => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#process?.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    await this.#process?.kill();
  }
}
