import { InvalidOption } from '@mrtr/core';
import { requestInit } from '@mrtr/harness/internal';
import { expect, test } from 'vitest';
import { hosting, INITIALIZE, read } from './hosting.test-support.ts';
import { type HttpOptions, serveHttp } from './http.ts';

const APP = 'https://app.example';
const LOCAL_PAGE = 'http://localhost:5173';

/** The response headers that CORS uses. */
const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'));

const from = (origin: string | undefined, init: RequestInit = {}): RequestInit => ({
  ...init,
  headers: { ...(init.headers as Record<string, string>), ...(origin !== undefined && { origin }) },
});

/** A browser's preflight. */
const preflight = (origin: string, method = 'POST', headers = 'content-type'): RequestInit =>
  from(origin, {
    method: 'OPTIONS',
    headers: { 'access-control-request-method': method, 'access-control-request-headers': headers },
  });

const listTools = requestInit('tools/list');
const app: HttpOptions = { allowedOrigins: [APP] };
/** The CORS headers of an answer to an allowed page. */
const READABLE = (origin: string) => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': 'Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate',
  vary: 'Origin',
});

test.each([
  ['a page of this machine', LOCAL_PAGE, {}],
  ['a page of an allowed origin', APP, app],
  ['a page of an allowed host', 'https://mcp.example:8443', { allowedHosts: ['mcp.example', '127.0.0.1'] }],
  ['an editor’s window', 'vscode-webview://1a2b', { allowedOrigins: ['vscode-webview://1a2b'] }],
])('%s may call, and read the answer', async (_page, origin, options) => {
  const { url } = await hosting(options);
  const asked = 'authorization,content-type,mcp-method,mcp-name,mcp-param-region,mcp-protocol-version';
  const before = await fetch(url, preflight(origin, 'POST', asked));
  expect(before.status).toBe(204);
  expect(corsOf(before)).toEqual({
    ...READABLE(origin),
    'access-control-allow-headers': asked,
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-max-age': '7200',
    vary: 'Access-Control-Request-Headers, Origin',
  });
  const answer = await fetch(url, from(origin, listTools));
  expect(answer.status).toBe(200);
  expect(corsOf(answer)).toEqual(READABLE(origin));
});

test('a page reads a rejection too, and a preflight needs no token', async () => {
  const verifier = { verifyAccessToken: () => Promise.reject(new Error('The list is not there.')) };
  const { url } = await hosting({ ...app, verifier });
  expect((await fetch(url, preflight(APP))).status).toBe(204);
  const rejected = await fetch(url, from(APP, listTools));
  expect([rejected.status, rejected.headers.has('www-authenticate')]).toEqual([401, true]);
  expect(corsOf(rejected)).toEqual(READABLE(APP));
  const unknown = await fetch(url, from(APP, { method: 'PUT' }));
  expect([unknown.status, corsOf(unknown)]).toEqual([405, READABLE(APP)]);
});

test.each([
  ['of another site', 'https://evil.example'],
  ['of a name that begins like an allowed one', 'https://app.example.evil.example'],
  ['of a name that ends like an allowed one', 'https://evil-app.example'],
  ['of an allowed name over another scheme', 'http://app.example'],
  ['of an allowed name on another port', 'https://app.example:8443'],
  ['in a sandbox, or from a file', 'null'],
  ['under a scheme of its own, with this machine’s name', 'tauri://localhost'],
  ['that would have a path', 'http://localhost/x'],
  ['that would have a user', 'http://app.example@localhost'],
  ['in two spellings, of which the first is this machine', 'http://localhost/, https://evil.example'],
  ['whose address is not as a browser writes it', 'http://127.1'],
])('a page %s gets no CORS answer, and nothing runs', async (_page, origin) => {
  const { url, waiting } = await hosting(app);
  for (const init of [preflight(origin), from(origin, requestInit('tools/call', { name: 'wait' }))]) {
    const rejected = await fetch(url, init);
    expect([rejected.status, corsOf(rejected)]).toEqual([403, {}]);
  }
  expect(waiting).toBe(0);
});

test('a page reads that the server failed, in both eras', async () => {
  const served = await hosting(app);
  served.server = () => {
    throw new Error('db-7.internal is down');
  };
  for (const init of [INITIALIZE, listTools]) {
    const failed = await fetch(served.url, from(APP, init));
    expect([failed.status, corsOf(failed)]).toEqual([500, READABLE(APP)]);
    expect(await failed.text()).not.toContain('db-7');
  }
  expect(served.errors).toEqual(['db-7.internal is down', 'db-7.internal is down']);
});

test('a program that is no browser gets no CORS answer', async () => {
  const { url } = await hosting(app);
  const answer = await fetch(url, listTools);
  expect([answer.status, corsOf(answer)]).toEqual([200, {}]);
  // A cache may keep the answer to a GET, and must not give it to a page.
  const cacheable = await fetch(url);
  expect([cacheable.status, corsOf(cacheable)]).toEqual([400, { vary: 'Origin' }]);
});

test('OPTIONS that is no preflight is rejected like any other method', async () => {
  const { url } = await hosting(app);
  for (const init of [
    { method: 'OPTIONS' },
    from(APP, { method: 'OPTIONS' }),
    { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } },
  ]) {
    expect(await read(await fetch(url, init))).toMatchObject({
      status: 405,
      error: { message: 'Method not allowed' },
    });
  }
});

test('pages for browsers, health and unknown paths get no CORS answer', async () => {
  const link = { path: '/link', fetch: async () => new Response('the page', { status: 200 }) };
  const { url } = await hosting({ ...app, pages: [link] });
  for (const path of ['/link/start', '/link/callback', '/healthz', '/elsewhere']) {
    for (const init of [preflight(APP, 'GET'), from(APP)]) {
      expect(corsOf(await fetch(new URL(path, url), init))).toEqual({});
    }
  }
});

test.each([
  'https://app.example/',
  'https://app.example/path',
  'app.example',
  '*',
  'null',
  'https://*',
  'my-app://*',
])('the origin %s, which no browser sends, is a mistake of the configuration', async (origin) => {
  const served = { server: () => Promise.reject() } as never;
  await expect(serveHttp(served, { allowedOrigins: [origin] })).rejects.toThrow(
    new InvalidOption(
      `allowedOrigins has '${origin}', which no browser sends as an origin. Write it like https://app.example.`,
    ),
  );
});
