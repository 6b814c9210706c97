/** A mount without a socket: limits that take many requests, and the responses of a closing server. */
import { Deferred, requestInit } from '@mrtr/harness';
import { expect, test } from 'vitest';
import { hosting, INITIALIZE, mounting, oldMessage, read, withHeaders } from '../hosting.test-support.ts';

const refusal = (status: number, message: string, code = -32000) => ({ status, error: { code, message } });

const PAGES = [{ path: '/link', fetch: async () => new Response('A page.') }];

test('each path is that of MCP, but those at and below a path of pages', async () => {
  const { send } = mounting({ pages: PAGES });
  for (const path of ['/', '/linked', '/mcp/'])
    expect((await read(await send(path, requestInit('tools/list')))).result).toHaveProperty('tools');
  expect(await (await send('/link/start')).text()).toBe('A page.');
  expect((await send('/link', requestInit('tools/list'))).status).toBe(404);
});

test('a page is served for the allowed hosts alone', async () => {
  const { send } = mounting({ pages: PAGES });
  expect((await send('/link/start', { headers: { host: 'evil.example' } })).status).toBe(403);
});

test('100 pages are served at once, and one more when one of them was sent', async () => {
  const released = new Deferred();
  const fetch = () => released.promise.then(() => new Response('A page.'));
  const { send } = mounting({ pages: [{ path: '/link', fetch }] });
  const open = Array.from({ length: 100 }, () => send('/link/start'));
  expect(await read(await send('/link/start'))).toEqual(
    refusal(503, 'This server has too many pages open; try again later'),
  );
  released.open();
  expect((await Promise.all(open)).map(({ status }) => status)).toEqual(Array(100).fill(200));
  expect((await send('/link/start')).status).toBe(200);
});

test('a page that fails makes room for another', async () => {
  const fetch = () => Promise.reject(new Error('No page.'));
  const { send, served } = mounting({ pages: [{ path: '/link', fetch }] });
  for (let time = 0; time <= 100; time++) expect((await send('/link/start')).status).toBe(500);
  expect(served.errors).toEqual(Array(101).fill('No page.'));
});

test('what is posted to a page is bounded like any body, and holds no place before it is in', async () => {
  const fetch = async (request: Request) => new Response(await request.text());
  const { url } = await hosting({ pages: [{ path: '/link', fetch }], maxBodyBytes: 10 });
  const page = new URL('/link/x', url);
  const post = (body: string) => globalThis.fetch(page, { method: 'POST', body });
  const small = await post('0123456789');
  expect([small.status, await small.text()]).toEqual([200, '0123456789']);
  expect((await post('01234567890')).status).toBe(413);
});

test('a server that closes serves neither pages nor MCP', async () => {
  const { mcp, send } = mounting({ pages: PAGES });
  await mcp.close();
  const closing = refusal(503, 'The server is shutting down');
  expect(await read(await send('/link/start'))).toEqual(closing);
  expect(await read(await send('/mcp', requestInit('tools/list')))).toEqual(closing);
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
  const { send } = mounting({ maxSubscriptions: 1025 });
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
  expect(await read(await send('/mcp', sent))).toEqual(refusal(404, 'Session not found'));
});
