import { Deferred, requestInit } from '@mrtr/harness/internal';
import { expect, test } from 'vitest';
import {
  beginSession,
  hosting,
  httpText,
  modernClient,
  oldRequest,
  rawConnection,
  read,
  withHeaders,
} from './hosting.test-support.ts';
import type { HttpOptions } from './http.ts';

const FOREVER: HttpOptions = { drainSeconds: 60 };
const waited = expect.objectContaining({ content: [{ type: 'text', text: 'Waited.' }] });

test('an answer is sent to its last byte before its connection is cut, and announces the cut, and no new connection is taken', async () => {
  const { http, url, entered, release } = await hosting(FOREVER);
  const connection = await rawConnection(url);
  const answer = connection.send(httpText(url, requestInit('tools/call', { name: 'wait' })));
  await entered;
  const closed = http.close();
  await expect(rawConnection(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  release();
  await closed;
  const [head, json = ''] = (await answer).split('\r\n\r\n');
  expect(head?.toLowerCase()).toContain(`\r\ncontent-length: ${json.length}\r\n`);
  expect(head?.toLowerCase()).toContain('\r\nconnection: close\r\n');
  expect(json).toContain('Waited.');
});

test('while a server closes, requests on open connections get 503, on used and unused ones', async () => {
  const { http, url, entered, release } = await hosting(FOREVER);
  const [used, unused, late] = [await rawConnection(url), await rawConnection(url), await rawConnection(url)];
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  expect(await used.use(get('/healthz'))).toMatch(/^HTTP\/1\.1 200 /);
  const finished = (await modernClient(url)).callTool({ name: 'wait' });
  await entered;
  const closed = http.close();
  const answers = [used.send(get('/healthz')), unused.send(get('/healthz')), late.send(get('/mcp'))];
  const [afterUse, first, rejected] = await Promise.all(answers);
  // Release the call before the assertions below: a failed one would leave it in flight.
  release();
  expect(await finished).toEqual(waited);
  await closed;
  expect(afterUse).toMatch(/ 200 [\s\S]*HTTP\/1\.1 503 [\s\S]*closing/);
  expect(first).toMatch(/^HTTP\/1\.1 503 [\s\S]*closing/);
  expect(rejected).toMatch(/^HTTP\/1\.1 503 [\s\S]*shutting down/);
});

test("streams that stand open do not delay it: an old client's, and a new one's subscription", async () => {
  const { http, url } = await hosting(FOREVER);
  const session = { 'mcp-session-id': await beginSession(url) };
  const standing = await fetch(url, { headers: { ...session, accept: 'text/event-stream' } });
  expect(standing.headers.get('content-type')).toBe('text/event-stream');
  const listening = await fetch(url, requestInit('subscriptions/listen', { notifications: {} }));
  expect(listening.headers.get('content-type')).toBe('text/event-stream');
  await http.close();
  await Promise.allSettled([standing.text(), listening.text()]);
});

test('neither a kept-alive connection nor an unused one delays closing', async () => {
  const { http, url } = await hosting(FOREVER);
  const [kept, unused] = [await rawConnection(url), await rawConnection(url)];
  await kept.use('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const ended = Promise.all([kept.send(''), unused.send('')]);
  await http.close();
  await ended;
});

test('an instance that throws when it is closed is an error, and leaves nothing open', async () => {
  const served = await hosting({ drainSeconds: 0.005 });
  served.close = () => {
    throw new Error('stuck');
  };
  const session = await beginSession(served.url);
  const call = fetch(served.url, oldRequest('tools/call', { name: 'wait' }, session)).then(read);
  const cut = expect(call).rejects.toThrow();
  const { mcpReq } = await served.entered;
  await expect(served.http.close()).rejects.toThrow('stuck');
  await cut;
  expect(mcpReq.signal.aborted).toBe(true);
  const port = Number(served.url.port);
  expect((await hosting({ port })).url.port).toBe(`${port}`);
});

test('an old client’s call is waited for, whatever headers of the new revision it has', async () => {
  const { http, url, entered, release } = await hosting(FOREVER);
  const request = oldRequest('tools/call', { name: 'wait' }, await beginSession(url));
  const call = fetch(url, withHeaders(request, { 'mcp-method': 'subscriptions/listen' })).then(read);
  await entered;
  const closed = http.close();
  release();
  expect(await call).toMatchObject({ result: { content: [{ text: 'Waited.' }] } });
  await closed;
});

test('an instance that never finishes closing does not block the server, and is reported', async () => {
  const served = await hosting({ drainSeconds: 0.02 });
  served.close = () => new Promise(() => {});
  await served.http.close();
  expect(served.errors).toEqual([
    'Handlers were still running 20 ms after the server began to close, so it closed without them. Make handlers end when ' +
      'ctx.signal fires.',
  ]);
});

test('a page that is being served is waited for', async () => {
  const [entered, released] = [new Deferred(), new Deferred()];
  const page = async () => {
    entered.open();
    await released.promise;
    return new Response('Served.');
  };
  const { http, url } = await hosting({ ...FOREVER, pages: [{ path: '/slow', fetch: page }] });
  const response = fetch(new URL('/slow/page', url));
  await entered.promise;
  const closed = http.close();
  released.open();
  expect(await (await response).text()).toBe('Served.');
  await closed;
});
