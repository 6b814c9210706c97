import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Deferred } from '@mrtr/harness';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { RoundRobinProxy } from './proxy.ts';

let proxy: RoundRobinProxy;
const servers: Server[] = [];

beforeEach(async () => {
  proxy = await RoundRobinProxy.listen();
});

afterEach(async () => {
  await Promise.all([proxy.close(), ...servers.splice(0).map(stop)]);
});

async function upstream(listener: RequestListener): Promise<{ url: URL; server: Server }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`), server };
}

async function stop(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

const upstreamNamed = (name: string) =>
  upstream((req, res) => {
    req.on('data', (chunk) => res.write(`${name} got ${chunk}`)).on('end', () => res.end());
  });

const post = async (url: URL) => (await fetch(url, { method: 'POST', body: 'news' })).text();

test('the proxy sends requests to the instances in turn, with their bodies', async () => {
  const route = proxy.route('turns', [(await upstreamNamed('one')).url, (await upstreamNamed('two')).url]);
  expect([await post(route.url), await post(route.url), await post(route.url)]).toEqual([
    'one got news',
    'two got news',
    'one got news',
  ]);
  expect(route.lastServed).toBe(0);
});

test('the proxy skips an instance that is gone, and answers with an error if none is left', async () => {
  const [one, two] = [await upstreamNamed('one'), await upstreamNamed('two')];
  const route = proxy.route('gone', [one.url, two.url]);
  await stop(one.server);
  expect([await post(route.url), await post(route.url)]).toEqual(['two got news', 'two got news']);
  await stop(two.server);
  expect((await fetch(route.url, { method: 'POST' })).status).toBe(502);
});

test('a response is passed on while it is written, and breaks off when the instance dies', async () => {
  // The adapter logs the break.
  onTestFinished(() => vi.mocked(console.error).mockRestore());
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const { url, server } = await upstream((_req, res) => void res.write('first'));
  const response = await fetch(proxy.route('stream', [url]).url);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('first');
  server.closeAllConnections();
  await expect(reader.read()).rejects.toThrow('terminated');
});

test('a client that disconnects cancels its request at the instance', async () => {
  const closed = new Deferred();
  const { url } = await upstream((req, res) => {
    req.socket.once('close', () => closed.open());
    res.write('first');
  });
  const controller = new AbortController();
  const response = await fetch(proxy.route('abort', [url]).url, { signal: controller.signal });
  await (response.body as ReadableStream<Uint8Array>).getReader().read();
  controller.abort();
  await closed.promise;
});

test('a request whose instance dies is not sent again, also not to another instance', async () => {
  let seen = 0;
  const dies: RequestListener = (req) => {
    seen++;
    req.socket.destroy();
  };
  const route = proxy.route('dies', [(await upstream(dies)).url, (await upstream(dies)).url]);
  const response = await fetch(route.url, { method: 'POST', body: 'once' });
  expect([response.status, seen]).toEqual([502, 1]);
});

test('an address without a route is not found', async () => {
  const route = proxy.route('over', []);
  proxy.unroute(route);
  expect((await fetch(route.url)).status).toBe(404);
});
