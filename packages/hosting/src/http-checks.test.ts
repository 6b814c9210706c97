/** A mount without a socket: limits that take many requests, and the responses of a closing server. */
import { observe } from '@mrtr/core/events';
import { Deferred, requestInit } from '@mrtr/harness/internal';
import { expect, onTestFinished, test } from 'vitest';
import {
  hosting,
  INITIALIZE,
  mounting,
  oldMessage,
  rawConnection,
  read,
  withHeaders,
} from './hosting.test-support.ts';

const rejection = (status: number, message: string, code = -32000) => ({ status, error: { code, message } });

const PAGES = [{ path: '/link', fetch: async () => new Response('A page.') }];

test('each path is that of MCP to its handler, and those below a path of pages are pages to theirs', async () => {
  const { send, sendPage } = mounting({ pages: PAGES });
  for (const path of ['/', '/link', '/mcp/'])
    expect((await read(await send(path, requestInit('tools/list')))).result).toHaveProperty('tools');
  expect(await (await sendPage('/link/start')).text()).toBe('A page.');
  for (const path of ['/', '/link', '/linked/start']) expect((await sendPage(path)).status).toBe(404);
});

test('a page is served for the allowed hosts alone', async () => {
  const { sendPage } = mounting({ pages: PAGES });
  expect((await sendPage('/link/start', { headers: { host: 'evil.example' } })).status).toBe(403);
});

test('100 pages are served at once, and one more when one of them was sent', async () => {
  const released = new Deferred();
  const fetch = () => released.promise.then(() => new Response('A page.'));
  const { sendPage } = mounting({ pages: [{ path: '/link', fetch }] });
  const open = Array.from({ length: 100 }, () => sendPage('/link/start'));
  expect(await read(await sendPage('/link/start'))).toEqual(
    rejection(503, 'This server has too many pages open; try again later'),
  );
  released.open();
  expect((await Promise.all(open)).map(({ status }) => status)).toEqual(Array(100).fill(200));
  expect((await sendPage('/link/start')).status).toBe(200);
});

test('a page that fails makes room for another', async () => {
  const fetch = () => Promise.reject(new Error('No page.'));
  const { sendPage, served } = mounting({ pages: [{ path: '/link', fetch }] });
  for (let time = 0; time <= 100; time++) expect((await sendPage('/link/start')).status).toBe(500);
  expect(served.errors).toEqual(Array(101).fill('No page.'));
});

const ECHO = { path: '/link', fetch: async (request: Request) => new Response(await request.text()) };

/** A post to a page whose client has sent `sent` of 16 384 bytes. */
const sendPart = (sent: number) =>
  `POST /link/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16384\r\n\r\n${'x'.repeat(sent)}`;

test('a body of a page has at most 16 384 bytes', async () => {
  const { url } = await hosting({ pages: [ECHO] });
  const post = (bytes: number) => fetch(new URL('/link/x', url), { method: 'POST', body: 'x'.repeat(bytes) });
  expect((await (await post(16_384)).text()).length).toBe(16_384);
  expect(await read(await post(16_385))).toEqual(rejection(413, 'A body has at most 16384 bytes; send less'));
});

test('unfinished bodies of pages have 1 MiB together, and take no room and no page from others', async () => {
  const { url, errors } = await hosting({
    pages: [ECHO],
    limits: { bytes: 1_048_576, bodyBytes: 5000, perPrincipal: 1 },
  });
  const connections = await Promise.all(Array.from({ length: 110 }, () => rawConnection(url)));
  const [first, ...others] = connections.map(({ use }, n) => use(sendPart(n < 64 ? 16_383 : 0)));
  for (const other of others) other.catch(() => {});
  const post = () => fetch(new URL('/link/x', url), { method: 'POST', body: 'x' }).then(read);
  const full = rejection(503, 'This server has too many bytes of requests coming in; try again later');
  await expect.poll(post).toEqual(full);
  expect((await fetch(url, requestInit('tools/list'))).status).toBe(200);
  connections[0]?.use('x').catch(() => {});
  expect(await first).toMatch(/^HTTP\/1\.1 200 /);
  expect((await fetch(new URL('/link/x', url), { method: 'POST', body: 'x' })).status).toBe(200);
  expect(errors).toEqual([]);
});

test('a page that reads no body is answered before its body came in', async () => {
  const fetch = async () => new Response('No.', { status: 403 });
  const { url } = await hosting({ pages: [{ path: '/link', fetch }] });
  expect(await (await rawConnection(url)).use(sendPart(0))).toMatch(/^HTTP\/1\.1 403 /);
});

test('a page itself rejects a TRACE, and the operator gets no error', async () => {
  const fetch = async ({ method }: Request) => new Response(null, { status: method === 'GET' ? 200 : 405 });
  const { url, errors } = await hosting({ pages: [{ path: '/link', fetch }] });
  const connection = await rawConnection(url);
  const answer = await connection.send(
    'TRACE /link/start HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
  );
  expect(answer).toMatch(/^HTTP\/1\.1 405 /);
  expect(errors).toEqual([]);
});

test('a page that answers before it has read its body keeps no place', async () => {
  const fetch = async (request: Request) => {
    void request.text();
    return new Response('A page.');
  };
  const { sendPage } = mounting({ pages: [{ path: '/link', fetch }] });
  for (let time = 0; time <= 100; time++)
    expect((await sendPage('/link/x', { method: 'POST', body: 'x' })).status).toBe(200);
});

test('a server that closes serves neither pages nor MCP', async () => {
  const rejected: unknown[] = [];
  onTestFinished(observe('mrtr:rejection', (event) => void rejected.push(event)));
  const { mcp, send, sendPage } = mounting({ pages: PAGES });
  await mcp.close();
  const closing = rejection(503, 'The server is shutting down');
  expect(await read(await sendPage('/link/start'))).toEqual(closing);
  expect(await read(await send('/mcp', requestInit('tools/list')))).toEqual(closing);
  expect(rejected).toEqual(Array(2).fill({ reason: 'transport', detail: 'http_closing' }));
});

test.each(['sessions', 'stateless'] as const)(
  'a mount with %s closes, and its instance too',
  async (legacyClients) => {
    const { mcp, served } = mounting({ legacyClients });
    await mcp.close();
    expect(served.closed).toBe(1);
  },
);

test('more subscriptions than the default of the SDK are open at once when the options allow them', async () => {
  const { send } = mounting({ limits: { subscriptions: 1025 } });
  const subscribe = (id: number) =>
    send('/mcp', requestInit('subscriptions/listen', { notifications: { toolsListChanged: true } }, { id }));
  const types = [];
  for (let id = 1; id <= 1025; id++) types.push((await subscribe(id)).headers.get('content-type'));
  expect(new Set(types)).toEqual(new Set(['text/event-stream']));
  expect((await subscribe(1026)).status).toBe(503);
});

test('an initialize may have 65 536 bytes', async () => {
  const { send } = mounting();
  const ofBytes = (bytes: number) =>
    send('/mcp', { ...INITIALIZE, body: `${INITIALIZE.body}`.padEnd(bytes, ' ') });
  expect((await ofBytes(65_536)).status).toBe(200);
  expect((await ofBytes(65_537)).status).toBe(413);
});

test('an answer is of an old client, whatever revision its header names: a new one sends it in a request', async () => {
  const { send } = mounting();
  const answer = oldMessage({ id: 1, result: {} }, 'guessed');
  const sent = withHeaders(answer, { 'mcp-protocol-version': '2026-07-28' });
  expect(await read(await send('/mcp', sent))).toEqual(rejection(404, 'Session not found'));
});
