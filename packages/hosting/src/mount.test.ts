/** A mount in routers that are not ours: real express, plain node:http, and web requests as hono's adapter makes them. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { InvalidOption } from '@mrtr/core';
import { callerNamed, Deferred, requestInit, settle, within } from '@mrtr/harness';
import express from 'express';
import { expect, onTestFinished, test, vi } from 'vitest';
import { fixture, INITIALIZE, modernClient, oldClient, oldRequest, read } from './hosting.test-support.ts';
import { createMcpMount, type McpMount, type MountOptions } from './mount.ts';

function mounting(options: MountOptions = {}) {
  const served = fixture();
  const mcp = createMcpMount(served, { onerror: served.onerror, drainSeconds: 0.05, ...options });
  onTestFinished(() => {
    served.release();
    return mcp.close().catch(() => {});
  });
  return { served, mcp };
}

/** Listens with somebody's own server. */
async function listen(listener: RequestListener, path = '/mcp'): Promise<{ url: URL; server: Server }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close().closeAllConnections());
  await once(server, 'listening');
  return { server, url: new URL(path, `http://127.0.0.1:${(server.address() as AddressInfo).port}`) };
}

/** The user's own sign-in: the `user` header names the caller. */
const callerOf = (user: unknown): AuthInfo | undefined =>
  typeof user === 'string' ? callerNamed(user) : undefined;
const signIn = (req: IncomingMessage): void => void Object.assign(req, { auth: callerOf(req.headers.user) });

const ROUTERS: Readonly<Record<string, (mcp: McpMount) => RequestListener>> = {
  'node:http': (mcp) => (req, res) => {
    signIn(req);
    return req.url?.startsWith('/mcp') ? void mcp.handle(req, res) : void res.end('Not MCP.');
  },
  'express, mounted below a path, with the body parsed': (mcp) =>
    express()
      .use(express.json({ limit: '10mb' }))
      .use((req, _res, next) => {
        signIn(req);
        next();
      })
      .use('/mcp', mcp.handle)
      .get('/', (_req, res) => void res.send('Not MCP.')),
  'web requests': (mcp) =>
    getRequestListener(
      (request) =>
        new URL(request.url).pathname.startsWith('/mcp')
          ? mcp.fetch(request, { authInfo: callerOf(request.headers.get('user')) as AuthInfo })
          : new Response('Not MCP.'),
      { overrideGlobalObjects: false },
    ),
  'web requests with the body parsed': (mcp) =>
    getRequestListener(
      async (request) =>
        new URL(request.url).pathname === '/'
          ? new Response('Not MCP.')
          : mcp.fetch(request, {
              authInfo: callerOf(request.headers.get('user')) as AuthInfo,
              ...(request.method === 'POST' && { parsedBody: await request.text() }),
            }),
      { overrideGlobalObjects: false },
    ),
};
const inEachRouter = test.each(Object.keys(ROUTERS).map((name) => [name, ROUTERS[name] as never] as const));
type Router = (mcp: McpMount) => RequestListener;

const as = (user: string, init: RequestInit): RequestInit => ({
  ...init,
  headers: { ...(init.headers as Record<string, string>), user },
});
const WAIT = requestInit('tools/call', { name: 'wait' });
const LIST = requestInit('tools/list');

inEachRouter('in %s, clients of both eras are asked, beside another route', async (_name, router: Router) => {
  const { mcp } = mounting();
  const { url } = await listen(router(mcp));
  const asked = { content: [{ type: 'text', text: 'Asked.' }] };
  const slashed = new URL('/mcp/?from=here', url);
  expect(await (await modernClient(slashed)).callTool({ name: 'ask' })).toMatchObject(asked);
  const old = await oldClient(url);
  expect(await old.callTool({ name: 'ask' })).toMatchObject(asked);
  expect(old.asked).toEqual(['Well?']);
  expect(await (await fetch(new URL('/', url))).text()).toBe('Not MCP.');
});

inEachRouter('in %s, a session belongs to the user who began it', async (_name, router: Router) => {
  const { mcp } = mounting();
  const { url } = await listen(router(mcp));
  const begun = await fetch(url, as('ada', INITIALIZE));
  await begun.text();
  const who = oldRequest('tools/call', { name: 'who' }, begun.headers.get('mcp-session-id') ?? '');
  for (const other of [as('bob', who), who])
    expect(await read(await fetch(url, other))).toMatchObject({ status: 404 });
  expect(await read(await fetch(url, as('ada', who)))).toMatchObject({
    result: { content: [{ text: 'ada' }] },
  });
});

inEachRouter('in %s, a body over the limits is refused', async (_name, router: Router) => {
  const { mcp } = mounting({ maxBodyBytes: 5000, maxBodyMembers: 1000 });
  const { url } = await listen(router(mcp));
  const padded = (bytes: number) => ({
    ...LIST,
    body: `${LIST.body}`.replace('{}', `{"x":"${'x'.repeat(bytes)}"}`),
  });
  const wide = { ...LIST, body: JSON.stringify(Array(1500).fill(0)) };
  const statuses = [padded(3000), padded(5000), wide].map(async (init) => (await fetch(url, init)).status);
  expect(await Promise.all(statuses)).toEqual([200, 413, 413]);
});

inEachRouter('in %s, HEAD opens no stream, and other methods are refused', async (_name, router: Router) => {
  const { mcp } = mounting();
  const { url } = await listen(router(mcp));
  for (const method of ['HEAD', 'PUT', 'OPTIONS'])
    expect((await fetch(url, { method, headers: { 'mcp-session-id': 'x' } })).status).toBe(405);
});

inEachRouter('in %s, the signal fires when a new client hangs up', async (_name, router: Router) => {
  const { mcp, served } = mounting();
  const { url } = await listen(router(mcp));
  const user = new AbortController();
  const call = fetch(url, { ...WAIT, signal: user.signal }).catch(() => 'left');
  const { signal } = (await served.entered).mcpReq;
  user.abort();
  expect(await call).toBe('left');
  if (!signal.aborted) await within(5000, once(signal, 'abort'), () => 'The signal did not fire.');
});

test('a subscription over web requests that nobody reads is ended', async () => {
  // The adapter prints why a stream breaks.
  const print = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => print.mockRestore());
  const { mcp, served } = mounting({ maxUnreadBytesPerStream: 100_000 });
  const { url } = await listen((ROUTERS['web requests'] as Router)(mcp));
  const { headers, body } = requestInit('subscriptions/listen', {
    notifications: { toolsListChanged: true },
  });
  const lines = Object.entries({ ...headers, host: 'localhost', 'content-length': body.length });
  const client = connect(Number(url.port), url.hostname).on('error', () => {});
  onTestFinished(() => void client.destroy());
  client.write(`POST /mcp HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n${body}`);
  await within(5000, once(client, 'data'), () => 'The subscription was not answered.');
  client.pause();
  for (let time = 0; served.errors.length === 0 && time < 200; time++) {
    for (let n = 0; n < 2000; n++) mcp.notify.toolsChanged();
    await settle();
  }
  expect(served.errors).toEqual([expect.stringMatching(/^A stream was ended: \d+ bytes/)]);
  const closed = once(client.resume(), 'close');
  await within(5000, closed, () => 'The connection was not ended.');
});

inEachRouter('in %s, a close lets calls finish, and refuses new ones', async (_name, router: Router) => {
  const { mcp, served } = mounting({ drainSeconds: 60 });
  const { url } = await listen(router(mcp));
  const [modern, old] = await Promise.all([modernClient(url), oldClient(url)]);
  const calls = [];
  for (const client of [modern, old]) {
    const entry = served.nextEntry();
    calls.push(client.callTool({ name: 'wait' }));
    await entry;
  }
  const closed = mcp.close();
  expect(await read(await fetch(url, LIST))).toMatchObject({ status: 503 });
  expect([mcp.isLive(), await mcp.isReady(), served.closed]).toEqual([false, false, 0]);
  served.release();
  for (const call of calls) expect(await call).toMatchObject({ content: [{ text: 'Waited.' }] });
  await closed;
  expect(served.closed).toBe(1);
  expect(await (await fetch(new URL('/', url))).text()).toBe('Not MCP.');
});

inEachRouter('in %s, a close cuts calls that do not end', async (_name, router: Router) => {
  const { mcp, served } = mounting();
  const { url } = await listen(router(mcp));
  const begun = await fetch(url, INITIALIZE);
  await begun.text();
  const session = begun.headers.get('mcp-session-id') ?? '';
  const cut = [];
  for (const init of [WAIT, oldRequest('tools/call', { name: 'wait' }, session)]) {
    const entry = served.nextEntry();
    cut.push(
      fetch(url, init).then(
        (response) => response.text(),
        () => 'cut',
      ),
    );
    await entry;
  }
  await mcp.close();
  for (const text of await within(5000, Promise.all(cut), () => 'A call was not cut.'))
    expect(text).not.toContain('Waited.');
});

test('two mounts know nothing of each other’s sessions, and one outlives the other', async () => {
  const [one, two] = [mounting(), mounting()];
  const app = express().use('/one', one.mcp.handle).use('/two', two.mcp.handle);
  const { url } = await listen(app, '/one');
  const begun = await fetch(url, INITIALIZE);
  await begun.text();
  const list = oldRequest('tools/list', {}, begun.headers.get('mcp-session-id') ?? '');
  expect((await fetch(new URL('/two', url), list)).status).toBe(404);
  expect((await fetch(url, list)).status).toBe(200);
  await two.mcp.close();
  expect((await fetch(url, list)).status).toBe(200);
  expect((await fetch(new URL('/two', url), LIST)).status).toBe(503);
});

test('a body that was read and not handed on is an error at once, and the operator learns what to do', async () => {
  const { mcp, served } = mounting();
  const { url } = await listen(async (req, res) => {
    for await (const _ of req);
    await mcp.handle(req, res);
  });
  const failed = { status: 500, error: { message: 'Internal server error' } };
  expect(await read(await fetch(url, LIST))).toMatchObject(failed);
  const request = new Request(url, LIST);
  await request.text();
  expect(await read(await mcp.fetch(request))).toMatchObject(failed);
  expect(served.errors).toEqual(Array(2).fill(expect.stringContaining('handle(req, res, body)')));
});

test('a client that hung up before the mount was reached enters no handler, and holds up nothing', async () => {
  const { mcp, served } = mounting({ drainSeconds: 60 });
  const [reached, released, over] = [new Deferred(), new Deferred(), new Deferred()];
  const { url } = await listen(async (req, res) => {
    reached.open();
    await released.promise;
    await mcp.handle(req, res);
    over.open();
  });
  const user = new AbortController();
  const left = fetch(url, { ...WAIT, signal: user.signal }).catch(() => 'left');
  await reached.promise;
  user.abort();
  expect(await left).toBe('left');
  await settle(5);
  released.open();
  await over.promise;
  const gone = AbortSignal.abort();
  await mcp.fetch(new Request('http://localhost/mcp', { ...WAIT, signal: gone }));
  await within(5000, mcp.close(), () => 'The client that left held up the end.');
  expect([served.waiting, served.errors]).toEqual([0, []]);
});

test('pages of a mount get their whole address, and what is posted to them', async () => {
  const page = async (request: Request) => new Response(`${request.url} ${await request.text()}`);
  const { mcp } = mounting({ pages: [{ path: '/link', fetch: page }] });
  const { url } = await listen(express().use(['/mcp', '/link'], mcp.handle), '/link/start?id=1');
  expect(await (await fetch(url, { method: 'POST', body: 'yes' })).text()).toBe(`${url} yes`);
  expect((await fetch(new URL('/mcp', url), LIST)).status).toBe(200);
});

test('with allowedHosts `any` the router checks the host, and pages of other sites are still refused', async () => {
  const allowedOrigins = ['https://app.example'];
  const [any, own] = [mounting({ allowedHosts: 'any', allowedOrigins }), mounting({ allowedOrigins })];
  const status = async ({ mcp }: typeof any, headers: object) => {
    const all = { ...(LIST.headers as object), ...headers } as Record<string, string>;
    return (await mcp.fetch(new Request('https://shop.example/mcp', { ...LIST, headers: all }))).status;
  };
  expect(await status(any, {})).toBe(200);
  expect(await status(any, { origin: 'https://app.example' })).toBe(200);
  for (const origin of ['https://evil.example', 'https://shop.example', 'http://localhost'])
    expect(await status(any, { origin })).toBe(403);
  expect(await status(own, {})).toBe(403);
  expect(own.served.errors).toEqual([expect.stringContaining("host 'shop.example' was refused")]);
});

test('a caller that was authenticated in front is not asked for a token, and `principal` says who it is', async () => {
  const verifyAccessToken = vi.fn(async () => Promise.reject(new Error('unreachable')));
  const principal = ({ extra }: AuthInfo) => `${extra?.tenant} ${extra?.sub}`;
  const { mcp } = mounting({ verifier: { verifyAccessToken }, principal });
  const send = (init: RequestInit, tenant?: string) => {
    const caller = callerNamed('ada');
    const authInfo = { ...caller, token: `${Math.random()}`, extra: { sub: 'ada', tenant } };
    return mcp.fetch(new Request('http://localhost/mcp', init), tenant ? { authInfo } : {});
  };
  const session = (await send(INITIALIZE, 'shop')).headers.get('mcp-session-id') ?? '';
  const list = oldRequest('tools/list', {}, session);
  const statuses = ['shop', 'bank', undefined].map(async (tenant) => (await send(list, tenant)).status);
  expect(await Promise.all(statuses)).toEqual([200, 404, 401]);
  expect(verifyAccessToken).not.toHaveBeenCalled();
});

test.each<[options: unknown, message: string]>([
  [{ path: '/mcp' }, "there is no option 'path'. The options are: "],
  [{ readiness: true }, 'readiness must be a ledger or a function; it is true.'],
  [{ principal: 'sub' }, 'principal must be a function; it is a text.'],
])('createMcpMount(served, %j) is refused: %s', (options, message) => {
  expect(() => createMcpMount(fixture(), options as MountOptions)).toThrow(InvalidOption);
  expect(() => createMcpMount(fixture(), options as MountOptions)).toThrow(`createMcpMount: ${message}`);
});
