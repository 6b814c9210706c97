import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { httpChannel } from './http.ts';
import type { ServerReply } from './reply.ts';

async function replyTo(listener: RequestListener): Promise<ServerReply> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const patience = { timeoutMs: 20_000, over: new AbortController().signal };
    const channel = httpChannel(new URL(`http://127.0.0.1:${port}/mcp`), { 'x-key': 'k' }, patience);
    return await channel.send({ method: 'tools/call', params: { name: 'a' } });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const answering =
  (text: string, status = 200, type = 'application/json'): RequestListener =>
  (_, res) =>
    void res.writeHead(status, { 'content-type': type }).end(text);

test('reads a stream with comments, split data and requests of the server', async () => {
  const request = '{"jsonrpc":"2.0","id":"s","method":"roots/list"}';
  const text = [
    ': keep-alive',
    '',
    'event: message',
    `data: ${request}`,
    '',
    'data: {"jsonrpc":"2.0","id":1,',
    'data: "result":{"resultType":"complete"}}',
    '',
    '',
  ].join('\r\n');
  const reply = await replyTo((_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(text.slice(0, 30));
    // The stream stays open: reading ends at the response.
    setImmediate(() => res.write(text.slice(30)));
  });
  expect(reply.messages.map(({ value }) => (value as { id: unknown }).id)).toEqual(['s', 1]);
  expect(reply.result).toEqual({ resultType: 'complete' });
});

test('describes the reply if it holds no response', async () => {
  const html = await replyTo(answering('<h1>Bad gateway', 502, 'text/html'));
  expect(html.failure).toBe('HTTP 502 (text/html) without a JSON-RPC response: <h1>Bad gateway');
  const moved = await replyTo((_, res) => res.writeHead(307, { location: '/elsewhere' }).end());
  expect(moved).toMatchObject({
    status: 307,
    failure: 'HTTP 307, which sends clients to /elsewhere: if that is the server, give that address',
  });
  const gone = await replyTo((req) => req.socket.destroy());
  expect(gone.failure).toMatch(/^the connection failed: /);
});

test('does not retry if Retry-After is longer than the limit for an answer', async () => {
  let requests = 0;
  const reply = await replyTo((_, res) => {
    requests++;
    res.writeHead(429, { 'retry-after': '60' }).end();
  });
  expect(reply.status).toBe(429);
  expect(requests).toBe(1);
});

test('reports that an answer is nested too deep, and does not walk it', async () => {
  const deep = `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`;
  const { failure } = await replyTo(answering(deep));
  expect(failure).toMatch(/^the answer has more than \d+ members, or is nested deeper than 500 levels$/);
});
