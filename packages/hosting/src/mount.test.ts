/** A mount in other routers. */
import { once } from 'node:events';
import { createServer, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { InvalidOption } from '@mrtr/core';
import { callerNamed } from '@mrtr/harness';
import { Deferred, requestInit, settle, within } from '@mrtr/harness/internal';
import express from 'express';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  beginSession,
  fixture,
  INITIALIZE,
  modernClient,
  mounting,
  oldClient,
  oldRequest,
  read,
  subscribe,
  withHeaders,
} from './hosting.test-support.ts';
import { createMcpMount, type McpMount } from './mount.ts';

/** The address of an application's own server. */
async function listen(listener: RequestListener, path = '/mcp'): Promise<URL> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close().closeAllConnections());
  await once(server, 'listening');
  return new URL(path, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/** The application's own sign-in: the header `user` names the caller. */
const signIn = (user: unknown) => (typeof user === 'string' ? { auth: callerNamed(user) } : {});

/** Mounted below a path, after a parser of bodies. */
const onExpress = (mcp: McpMount): RequestListener =>
  express()
    .use(express.json({ limit: '10mb' }))
    .use('/mcp', (req, res) => mcp.handle(Object.assign(req, signIn(req.headers.user)), res))
    .get('/', (_req, res) => void res.send('Not MCP.'));

/** Web requests, as the adapters of hono and others make them. */
const onWeb = (mcp: McpMount): RequestListener =>
  getRequestListener(
    (request) => {
      if (new URL(request.url).pathname === '/') return new Response('Not MCP.');
      const { auth } = signIn(request.headers.get('user'));
      return mcp.fetch(request, auth && { authInfo: auth });
    },
    { overrideGlobalObjects: false },
  );

const inEachRouter = test.each([
  ['express', onExpress],
  ['web requests', onWeb],
]);

const statusOf = async (url: URL, init: RequestInit) => (await fetch(url, init)).status;
const WAIT = requestInit('tools/call', { name: 'wait' });
const LIST = requestInit('tools/list');
const ASKED = { content: [{ type: 'text', text: 'Asked.' }] };
const WAITED = { content: [{ type: 'text', text: 'Waited.' }] };

inEachRouter('on %s, clients of both eras are asked, beside another route', async (_name, router) => {
  const url = await listen(router(mounting().mcp));
  const slashed = new URL('/mcp/?from=here', url);
  expect(await (await modernClient(slashed)).callTool({ name: 'ask' })).toMatchObject(ASKED);
  const old = await oldClient(url);
  expect(await old.callTool({ name: 'ask' })).toMatchObject(ASKED);
  expect(old.asked).toEqual(['Well?']);
  expect(await (await fetch(new URL('/', url))).text()).toBe('Not MCP.');
});

inEachRouter('on %s, a session belongs to the user who began it', async (_name, router) => {
  const url = await listen(router(mounting().mcp));
  const who = oldRequest('tools/call', { name: 'who' }, await beginSession(url, { user: 'ada' }));
  const as = (headers: object) => fetch(url, withHeaders(who, headers)).then(read);
  for (const other of [{ user: 'bob' }, {}]) expect(await as(other)).toMatchObject({ status: 404 });
  expect(await as({ user: 'ada' })).toMatchObject({ result: { content: [{ text: 'ada' }] } });
});

inEachRouter('on %s, a body over the limits is rejected, and HEAD opens no stream', async (_name, router) => {
  const url = await listen(router(mounting({ limits: { bodyBytes: 25_000 } }).mcp));
  const pad = (bytes: number) => `${LIST.body}`.replace('{}', `{"x":"${'x'.repeat(bytes)}"}`);
  const bodies = [pad(20_000), pad(25_000), JSON.stringify(Array(10_001).fill(0))];
  expect(await Promise.all(bodies.map((body) => statusOf(url, { ...LIST, body })))).toEqual([200, 413, 413]);
  expect(await statusOf(url, { method: 'HEAD' })).toBe(405);
});

test('a body that was read and not handed on is an error', async () => {
  const { mcp, served } = mounting({ limits: { bodyBytes: 500 } });
  const send = async (parsedBody?: unknown) => {
    const request = new Request('http://localhost/mcp', LIST);
    await request.text();
    return (await mcp.fetch(request, { parsedBody })).status;
  };
  const { body } = LIST;
  for (const form of [(text: string) => text, Buffer.from, JSON.parse])
    expect([await send(form(body)), await send(form(`["${'x'.repeat(500)}"]`))]).toEqual([200, 413]);
  const url = await listen(async (req, res) => {
    // A parser of another content type sets an empty `body`, and leaves the stream unread.
    if (req.url === '/form') return mcp.handle(Object.assign(req, { body: {} }), res);
    for await (const _ of req);
    return mcp.handle(req, res);
  });
  expect(await statusOf(new URL('/form', url), LIST)).toBe(200);
  expect([await send(), await statusOf(url, LIST)]).toEqual([500, 500]);
  expect(served.errors).toEqual(Array(2).fill(expect.stringContaining('handle(req, res, body)')));
});

test('a body that breaks off after its rejection is no error that ends the process', async () => {
  const { send } = mounting({ allowedHosts: ['shop.example'] });
  const { readable, writable } = new TransformStream();
  const broken = { ...LIST, body: readable, duplex: 'half' } as RequestInit;
  expect((await send('/mcp', broken)).status).toBe(403);
  const uncaught = vi.fn();
  process.prependOnceListener('uncaughtException', uncaught);
  onTestFinished(() => void process.off('uncaughtException', uncaught));
  await writable.abort(new Error('gone'));
  await settle(2);
  expect(uncaught).not.toHaveBeenCalled();
});

inEachRouter('on %s, the signal fires when a new client hangs up', async (_name, router) => {
  const { mcp, served } = mounting();
  const user = new AbortController();
  const call = fetch(await listen(router(mcp)), { ...WAIT, signal: user.signal }).catch(() => 'left');
  const { signal } = (await served.entered).mcpReq;
  user.abort();
  expect(await call).toBe('left');
  if (!signal.aborted) await within(5000, once(signal, 'abort'), () => 'The signal did not fire.');
});

test('a client that hung up before the mount was reached enters no handler, and holds up nothing', async () => {
  const { mcp, served } = mounting({ drainSeconds: 60 });
  const [reached, released, over] = [new Deferred(), new Deferred(), new Deferred()];
  const url = await listen(async (req, res) => {
    reached.open();
    res.once('close', () => released.open());
    await released.promise;
    await mcp.handle(req, res);
    over.open();
  });
  const user = new AbortController();
  const left = fetch(url, { ...WAIT, signal: user.signal }).catch(() => 'left');
  await reached.promise;
  user.abort();
  expect(await left).toBe('left');
  await over.promise;
  await mcp.fetch(new Request(url, { ...WAIT, signal: user.signal }));
  await within(5000, mcp.close(), () => 'The client that left held up the end.');
  expect([served.waiting, served.errors]).toEqual([0, []]);
});

inEachRouter('on %s, a subscription that nobody reads is ended', async (_name, router) => {
  // The web adapter prints the reason of a broken stream.
  const print = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => print.mockRestore());
  const { mcp, served } = mounting({ limits: { bytes: 100_000, bodyBytes: 1000, perPrincipal: 1 } });
  const url = await listen(router(mcp));
  const client = await subscribe(url);
  // The system buffers some megabytes first, and the stream has 200 ms to drain then.
  const end = performance.now() + 20_000;
  while (served.errors.length === 0 && performance.now() < end) {
    for (let n = 0; n < 2000; n++) mcp.notify.toolsChanged();
    await settle();
  }
  expect(served.errors).toEqual([expect.stringMatching(/^A stream was closed: its client left \d+ bytes/)]);
  const closed = once(client.resume(), 'close');
  await within(5000, closed, () => 'The connection was not ended.');
});

inEachRouter(
  'on %s, a close lets calls finish, whose signals never fire, and rejects new ones',
  async (_name, router) => {
    const { mcp, served } = mounting({ drainSeconds: 60 });
    const url = await listen(router(mcp));
    const calls = [];
    const signals: AbortSignal[] = [];
    for (const client of [await modernClient(url), await oldClient(url)]) {
      const entry = served.nextEntry();
      calls.push(client.callTool({ name: 'wait' }));
      signals.push((await entry).mcpReq.signal);
    }
    const closed = Promise.all([mcp.close(), mcp.close()]);
    expect(await statusOf(url, LIST)).toBe(503);
    expect([await mcp.isReady(), served.closed]).toEqual([false, 0]);
    served.release();
    for (const call of calls) expect(await call).toMatchObject(WAITED);
    await closed;
    expect([served.closed, ...signals.map(({ aborted }) => aborted)]).toEqual([1, false, false]);
    expect(await (await fetch(new URL('/', url))).text()).toBe('Not MCP.');
  },
);

inEachRouter('on %s, a close cuts calls that do not end', async (_name, router) => {
  const { mcp, served } = mounting();
  const url = await listen(router(mcp));
  const cut = [];
  for (const init of [WAIT, oldRequest('tools/call', { name: 'wait' }, await beginSession(url))]) {
    const entry = served.nextEntry();
    const read = (response: Response) => response.text();
    cut.push(fetch(url, init).then(read, () => 'cut'));
    await entry;
  }
  await mcp.close();
  for (const text of await within(5000, Promise.all(cut), () => 'A call was not cut.'))
    expect(text).not.toContain('Waited.');
});

test('two mounts know nothing of each other’s sessions, and one outlives the other', async () => {
  const [one, two] = [mounting().mcp, mounting().mcp];
  const url = await listen(express().use('/one', one.handle).use('/two', two.handle), '/one');
  const list = oldRequest('tools/list', {}, await beginSession(url));
  const other = new URL('/two', url);
  expect([await statusOf(other, list), await statusOf(url, list)]).toEqual([404, 200]);
  await two.close();
  expect([await statusOf(other, LIST), await statusOf(url, list)]).toEqual([503, 200]);
});

const SHOW = async ({ url }: Request) => new Response(`The page ${new URL(url).pathname}.`);

test('pages of a mount get their whole address, and what is posted to them', async () => {
  const page = async (request: Request) => new Response(`${request.url} ${await request.text()}`);
  const { mcp } = mounting({ pages: [{ path: '/link', fetch: page }] });
  const url = await listen(
    express().use('/mcp', mcp.handle).use('/link', mcp.handlePages),
    '/link/start?id=1',
  );
  expect(await (await fetch(url, { method: 'POST', body: 'yes' })).text()).toBe(`${url} yes`);
  expect(await statusOf(new URL('/mcp', url), LIST)).toBe(200);
});

test.each([
  ['/link/start;x', 200],
  ['/link;x', 404],
  ['/link', 404],
  ['/LINK/start', 404],
  ['/%6cink/start', 404],
  ['/mcp', 404],
  ['/link/../mcp', 400],
  ['/link/%2E%2e/mcp', 400],
  ['/link/./..', 400],
])('the handlers of pages never serve MCP, whatever a router sends them: %s', async (path, status) => {
  const { mcp, served } = mounting({ pages: [{ path: '/link', fetch: SHOW }] });
  const url = await listen((req, res) => mcp.handlePages(req, res));
  const { headers, body, method } = LIST;
  const sent = request(url, { path, method, headers: { ...(headers as object) } }).end(body);
  const [response] = await once(sent, 'response');
  response.resume();
  expect(response.statusCode).toBe(status);
  const web = await mcp.fetchPages(new Request(new URL(path, url), LIST));
  expect(await web.text()).not.toContain('"tools"');
  expect(served.errors).toEqual([]);
});

test('the handlers of MCP never serve pages, whatever a router sends them', async () => {
  const { mcp } = mounting({ pages: [{ path: '/link', fetch: SHOW }] });
  const url = await listen((req, res) => mcp.handle(req, res), '/link/start');
  for (const answer of [await fetch(url), await mcp.fetch(new Request(url))])
    expect([answer.status, await answer.text()]).toEqual([400, expect.not.stringContaining('The page')]);
});

test('a page that hangs is cut when the mount closes', async () => {
  const entered = new Deferred();
  const hang = () => {
    entered.open();
    return new Promise<never>(() => {});
  };
  const { mcp } = mounting({ pages: [{ path: '/link', fetch: hang }] });
  const page = fetch(await listen((req, res) => mcp.handlePages(req, res), '/link/x')).catch(() => 'cut');
  await entered.promise;
  await mcp.close();
  expect(await within(5000, page, () => 'The page was not cut.')).toBe('cut');
});

test('with allowedHosts `any` the router checks the host, and pages of other sites are still rejected', async () => {
  const allowedOrigins = ['https://app.example'];
  const [any, own] = [mounting({ allowedHosts: 'any', allowedOrigins }), mounting({ allowedOrigins })];
  const status = async ({ send }: typeof any, headers: object) =>
    (await send('https://shop.example/mcp', withHeaders(LIST, headers))).status;
  expect(await status(any, {})).toBe(200);
  expect(await status(any, { origin: 'https://app.example' })).toBe(200);
  for (const origin of ['https://evil.example', 'https://shop.example', 'http://localhost'])
    expect(await status(any, { origin })).toBe(403);
  expect(await status(own, {})).toBe(403);
  expect(own.served.errors).toEqual([expect.stringContaining("host 'shop.example' was rejected")]);
});

test('a caller that was authenticated in front is not asked for a token, and `principal` says who it is', async () => {
  const verifyAccessToken = vi.fn(async () => Promise.reject(new Error('unreachable')));
  const principal = ({ extra }: AuthInfo) => `${extra?.tenant} ${extra?.sub}`;
  const { send } = mounting({ verifier: { verifyAccessToken }, principal });
  const sendAs = (init: RequestInit, tenant?: string) => {
    const authInfo = { ...callerNamed('ada'), extra: { sub: 'ada', tenant } };
    return send('/mcp', init, tenant ? { authInfo } : {});
  };
  const session = (await sendAs(INITIALIZE, 'shop')).headers.get('mcp-session-id') ?? '';
  const list = oldRequest('tools/list', {}, session);
  const statuses = ['shop', 'bank', undefined].map(async (tenant) => (await sendAs(list, tenant)).status);
  expect(await Promise.all(statuses)).toEqual([200, 404, 401]);
  expect(verifyAccessToken).not.toHaveBeenCalled();
});

test.each<[string, unknown]>([
  ['the claims of a JWT', { sub: 'ada', iat: 1 }],
  ['no', false],
  ['a name', 'ada'],
])('%s in `req.auth` is no caller, and lets nobody past `verifier`', async (_name, auth) => {
  const verifier = { verifyAccessToken: () => Promise.reject(new Error('unreachable')) };
  const { mcp, send, served } = mounting({ verifier });
  const url = await listen((req, res) => mcp.handle(Object.assign(req, { auth }) as never, res));
  expect(await statusOf(url, LIST)).toBe(500);
  expect((await send('/mcp', INITIALIZE, { authInfo: auth })).status).toBe(500);
  expect(served.errors).toEqual(Array(2).fill(expect.stringContaining('must be an AuthInfo')));
});

test('a `principal` that gives no text is an error of the server', async () => {
  const { send, served } = mounting({ principal: (async () => 'ada') as never });
  expect((await send('/mcp', LIST, { authInfo: callerNamed('ada') })).status).toBe(500);
  expect(served.errors).toEqual([expect.stringContaining('`principal` must return a text')]);
});

test('an option that a mount does not have, or that has a wrong value, is rejected', () => {
  for (const options of [
    { path: '/mcp' },
    { readiness: true },
    { principal: 'sub' },
    { limits: { sessions: 0 } },
  ])
    expect(() => createMcpMount(fixture(), options as never)).toThrow(InvalidOption);
});

test('a mount starts no timer before its first session: Cloudflare Workers reject one outside of a request', async () => {
  const started = vi.spyOn(globalThis, 'setInterval');
  onTestFinished(() => started.mockRestore());
  const { send } = mounting();
  expect((await send('/mcp', LIST)).status).toBe(200);
  expect(started).not.toHaveBeenCalled();
  await send('/mcp', INITIALIZE);
  expect(started).toHaveBeenCalledWith(expect.any(Function), 60_000);
});

test('on Cloudflare Workers, an old client has no session, and its call ends at once with an error', async () => {
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
  onTestFinished(() => void vi.unstubAllGlobals());
  const { send } = mounting();
  const begun = await send('/mcp', INITIALIZE);
  expect(begun.headers.has('mcp-session-id')).toBe(false);
  const answer = await (await send('/mcp', oldRequest('tools/call', { name: 'ask', arguments: {} }))).text();
  expect(answer).toContain('This needs a client that can be asked');
});
