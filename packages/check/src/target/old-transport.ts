/** Connects the client of the published v1 SDK to an instance. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { limitBody, ServerProcess } from '@mrtr/harness/internal';
import { parse } from '../wire/json.ts';

/** A transport for one session over HTTP. */
export const sessionOver = (url: URL, headers: Readonly<Record<string, string>> = {}) =>
  new StreamableHTTPClientTransport(url, {
    // Follow no redirect: the headers may hold credentials for this server only.
    requestInit: { headers, redirect: 'error' },
    // The SDK reads a body of any length.
    fetch: async (to, init) => limitBody(await fetch(to, init)),
  }) as Transport;

/** Starts a process of its own for one session, as an old client does. */
export function sessionOfNewProcess([program = '', ...args]: readonly string[]) {
  const process = new ServerProcess(program, args);
  return transportOver(process, () => process.kill());
}

/**
 * Replaces the SDK's stdio transport, which cannot kill the children of a wrapper.
 *
 * @param close ends the session. By default it leaves the process running, for the one who started it.
 */
export function transportOver(process: ServerProcess, close = async () => {}) {
  const transport: Transport = {
    close,
    async start() {
      process.onLine((line) => {
        const message = parse(line);
        if (message !== undefined) transport.onmessage?.(message as JSONRPCMessage);
      });
      process.ended.then(() => transport.onclose?.());
    },
    async send(message) {
      process.write(`${JSON.stringify(message)}\n`);
    },
  };
  return transport;
}
