/** Connections whose client does not read its responses. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { requestInit, within } from '@mrtr/harness/internal';
import { expect, onTestFinished, test, vi } from 'vitest';
import { watchConnections } from './connections.ts';
import { hosting, httpText, modernClient, openSocket } from './hosting.test-support.ts';
import { REQUEST_BYTES } from './limits.ts';

const MIB = 1_048_576;

/** A server that sends `bytes` to a client that does not read, until it cannot send more. */
async function serveUnread(bytes: number) {
  const connections = watchConnections();
  const server = createServer((req, res) => {
    connections.watch(res, req.socket);
    res.end(Buffer.alloc(bytes));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    connections.stop();
    server.close().closeAllConnections();
  });
  const asked = once(server, 'request');
  const client = openSocket(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  client.pause().write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [, response] = await asked;
  return { client, response, connection: response.socket };
}

/** Lets the server and its client read and write until both are blocked. */
async function exchange(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
}

function controlledClock(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
}

test('a client that reads nothing loses its connection after the time, and so its calls end', async () => {
  controlledClock();
  const { connection, response } = await serveUnread(16 * MIB);
  await exchange();
  const closed = once(response, 'close');
  // The first sweep counts the bytes sent before it.
  vi.advanceTimersByTime(65_999);
  expect(connection.destroyed).toBe(false);
  vi.advanceTimersByTime(1);
  expect(connection.destroyed).toBe(true);
  await within(5000, closed, () => 'The response did not close.');
});

test('a client that reads slowly keeps its connection', async () => {
  controlledClock();
  const { client, connection } = await serveUnread(16 * MIB);
  for (let minute = 0; minute < 20; minute++) {
    await exchange();
    const left = connection._handle.writeQueueSize;
    client.resume();
    for (let turn = 0; turn < 10_000 && connection._handle?.writeQueueSize === left; turn++)
      await new Promise(setImmediate);
    client.pause();
    vi.advanceTimersByTime(59_000);
    if (connection.writableLength === 0) break;
    expect(connection.destroyed).toBe(false);
  }
});

test('a connection on which nothing waits to be sent stays open, also while a call waits for its user', async () => {
  controlledClock();
  const { url, entered, release } = await hosting();
  const call = (await modernClient(url)).callTool({ name: 'wait' });
  await entered;
  vi.advanceTimersByTime(3_600_000);
  release();
  expect(await call).toMatchObject({ content: [{ text: 'Waited.' }] });
});

test('calls of a client that does not read give their places back', async () => {
  controlledClock();
  const { url } = await hosting({ limits: { bytes: 5 * REQUEST_BYTES, bodyBytes: 5000, perPrincipal: 1 } });
  const client = openSocket(url);
  const request = httpText(url, requestInit('tools/call', { name: 'big' }));
  const closed = once(client, 'close');
  client.pause().write(request.repeat(4));
  const status = () => fetch(url, requestInit('tools/list')).then(({ status }) => status);
  const becomes = async (wanted: number) => {
    for (let time = 0; time < 2000; time++) {
      if ((await status()) === wanted) return;
      vi.advanceTimersByTime(1000);
    }
    throw new Error(`No request got ${wanted}.`);
  };
  await becomes(503);
  await becomes(200);
  client.resume();
  await within(5000, closed, () => 'The connection was not ended.');
});
