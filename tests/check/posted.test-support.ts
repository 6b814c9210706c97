/** Servers in this process that answer each posted request with a text. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Posted {
  readonly id: number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>> | undefined;
  readonly headers: IncomingHttpHeaders;
}

export type Answers = (posted: Posted, res: ServerResponse) => string | undefined;

export async function serving<T>(answers: Answers, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString() || '{}');
    const text = answers({ id, method, params, headers: req.headers }, res);
    if (text !== undefined) res.writeHead(200, { 'content-type': 'application/json' }).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

export const cached = (more: object) => ({
  resultType: 'complete',
  ttlMs: 0,
  cacheScope: 'private',
  ...more,
});
export const DISCOVERED = cached({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } });
export const textResult = (text: string) => ({ resultType: 'complete', content: [{ type: 'text', text }] });

export const resultText = (id: number, result: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result });
