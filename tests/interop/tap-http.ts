/** A reverse proxy that records every message, and changes nothing. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Line } from './wire.ts';

export interface Tap {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on loopback, in front of `upstream`, under the same path. `note` gets every line. */
export async function tapHttp(upstream: string, note: (line: Line) => void): Promise<Tap> {
  const server = createServer((req, res) => void forward(req, res).catch(() => res.destroy()));
  async function forward(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await text(req);
    note({ from: 'client', text: body });
    // No compression, so that the tap can read it; separate connections, so that none outlives the tap.
    const { 'accept-encoding': _, connection: __, ...headers } = req.headers;
    const url = new URL(req.url ?? '', upstream);
    const asked = request(url, { method: req.method, headers, agent: false }, (answer) => {
      const lines = createInterface({ input: answer }).on('line', (text) => note({ from: 'server', text }));
      // Either side may hang up during a stream; readline reports that too.
      for (const stream of [lines, answer]) stream.on('error', () => res.destroy());
      const { connection: ___, ...answered } = answer.headers;
      res.writeHead(answer.statusCode ?? 502, answered);
      answer.pipe(res);
    });
    asked.on('error', () => res.destroy());
    res.on('close', () => asked.destroy());
    asked.end(body);
  }
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = new URL(upstream);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
