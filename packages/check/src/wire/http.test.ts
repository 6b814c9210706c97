import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { httpChannel } from './http.ts';
import type { Reply } from './reply.ts';

const RESULT = '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}';

async function replyTo(listener: RequestListener, { timeoutMs = 20_000, cut = false } = {}): Promise<Reply> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const patience = { timeoutMs, over: new AbortController().signal };
    const channel = httpChannel(new URL(`http://127.0.0.1:${port}/mcp`), { 'x-key': 'k' }, patience);
    return await channel.send({ method: 'tools/call', params: { name: 'a' } }, { cut });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const answering =
  (text: string, status = 200, type = 'application/json'): RequestListener =>
  (_, res) =>
    void res.writeHead(status, { 'content-type': type }).end(text);

test.each([
  ['line feeds', '\n'],
  ['carriage returns and line feeds', '\r\n'],
])('reads a stream with %s, comments, split data and requests of the server', async (_, end) => {
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
  ].join(end);
  const reply = await replyTo((_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(text.slice(0, 30));
    // The stream stays open: the response ends the reading.
    setImmediate(() => res.write(text.slice(30)));
  });
  expect(reply.messages.map(({ value }) => (value as { id: unknown }).id)).toEqual(['s', 1]);
  expect(reply.result).toEqual({ resultType: 'complete' });
});

test('says what came where no response did', async () => {
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

test('comes again when a server that limits the rate of requests says that it may', async () => {
  let requests = 0;
  const reply = await replyTo((_, res) => {
    if (++requests < 3) res.writeHead(429, { 'retry-after': '0' }).end();
    else res.writeHead(200, { 'content-type': 'application/json' }).end(RESULT);
  });
  expect(reply.result).toEqual({ resultType: 'complete' });
  expect(requests).toBe(3);
});

test('does not come again where that is later than an answer may take', async () => {
  let requests = 0;
  const reply = await replyTo((_, res) => {
    requests++;
    res.writeHead(429, { 'retry-after': '60' }).end();
  });
  expect(reply.status).toBe(429);
  expect(requests).toBe(1);
});

test('waits no longer than it may', async () => {
  const reply = await replyTo(() => {}, { timeoutMs: 50 });
  expect(reply).toMatchObject({ failure: 'no answer in 50 ms', late: true });
});

test('cuts the connection when the answer begins to arrive', async () => {
  let closed: Promise<unknown> | undefined;
  const reply = await replyTo(
    (req, res) => {
      closed = once(req.socket, 'close');
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write(': working\n\n');
    },
    { cut: true },
  );
  expect(reply.result).toBeUndefined();
  expect(reply.cut).toBe(true);
  await closed;
});

test.each(['application/json', 'text/event-stream'])(
  'reads an endless %s no further than it has to',
  async (type) => {
    const reply = await replyTo((_, res) => {
      res.writeHead(200, { 'content-type': type });
      const more = () =>
        void (
          res.destroyed || (res.write('x'.repeat(65_536)) ? setImmediate(more) : res.once('drain', more))
        );
      more();
    });
    expect(reply.failure).toBe('the answer is longer than 4 MiB');
  },
);

test('says that an answer is nested too deep, in place of walking it', async () => {
  const deep = `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`;
  const { failure } = await replyTo(answering(deep));
  expect(failure).toMatch(/^the answer has more than \d+ members, or is nested deeper than 500 levels$/);
});
