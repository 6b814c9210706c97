import { once } from 'node:events';
import { requestInit, within } from '@mrtr/harness/internal';
import { expect, test } from 'vitest';
import {
  beginSession,
  hosting,
  httpText,
  INITIALIZE,
  oldRequest,
  rawConnection,
  read,
  withHeaders,
} from './hosting.test-support.ts';

const listTools = requestInit('tools/list');

test('a server binds to loopback by default', async () => {
  const { url } = await hosting();
  expect(url.hostname).toBe('127.0.0.1');
});

/** The status of the response to a request of raw lines. */
async function statusOf(url: URL, ...lines: string[]): Promise<number> {
  const connection = await rawConnection(url);
  const answer = await connection.send(`${lines.join('\r\n')}\r\n\r\n`);
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
}

const LAST = 'Connection: close';

test.each([
  ['another host, as of a rebound name', ['Host: evil.example'], 403],
  ['another host with a port', ['Host: evil.example:80'], 403],
  ['this host as a part of a name', ['Host: localhost.evil.example'], 403],
  ['this host', ['Host: localhost:9'], 400],
  ['this address in IPv6', ['Host: [::1]:9'], 400],
  ['a foreign origin', ['Host: localhost', 'Origin: https://evil.example'], 403],
  ['no origin, in a word', ['Host: localhost', 'Origin: null'], 403],
  ['an origin of this machine', ['Host: localhost', 'Origin: http://localhost:5173'], 400],
  ['a host that is no name', ['Host: a b'], 400],
  ['no name at all', ['Host: '], 400],
  ['a host and a path in one', ['Host: localhost/mcp?'], 400],
  ['a user before the host', ['Host: localhost@evil.example'], 400],
  ['no host', [], 400],
  ['two hosts', ['Host: localhost', 'Host: evil.example'], 403],
  ['a session id of bytes', ['Host: localhost', 'Mcp-Session-Id: \u0080\u00ff'], 404],
  ['an absurd version', ['Host: localhost', `Mcp-Protocol-Version: ${'9'.repeat(9000)}`], 400],
  ['headers without end', ['Host: localhost', `X: ${'x'.repeat(20_000)}`], 431],
])('a GET with %s is answered as it deserves', async (_what, headers, status) => {
  const { url } = await hosting();
  // 400 means that the request was admitted: it is an old client's, without a session.
  expect(await statusOf(url, 'GET /mcp HTTP/1.1', ...headers, LAST)).toBe(status);
  expect((await fetch(url, listTools)).status).toBe(200);
});

test('the operator can allow further hosts', async () => {
  const { url } = await hosting({ allowedHosts: ['mcp.example'] });
  const get = (host: string) => statusOf(url, 'GET /mcp HTTP/1.1', `Host: ${host}`, LAST);
  expect(await Promise.all([get('mcp.example'), get('localhost')])).toEqual([400, 403]);
});

test.each([
  ['an unknown path', '/', 404],
  ['a path below', '/mcp/more', 404],
  ['malformed percent-encoding', '/%', 404],
  ['encoded bytes that are no text', '/mcp%ff%00', 404],
  ['two slashes', '//mcp', 404],
  ['an address of somewhere else', 'http://evil.example/mcp', 400],
  ['a query', '/mcp?x=%', 400],
])('%s is answered as it deserves', async (_what, path, status) => {
  const { url } = await hosting();
  expect(await statusOf(url, `GET ${path} HTTP/1.1`, 'Host: localhost', LAST)).toBe(status);
});

test.each(['HEAD', 'OPTIONS', 'PUT', 'PATCH'])(
  '%s is rejected, and the response names the allowed methods',
  async (method) => {
    const { url } = await hosting();
    const response = await fetch(url, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, POST, DELETE');
  },
);

test('TRACE, which a web-standard Request cannot express, is rejected too', async () => {
  const { url } = await hosting();
  expect(await statusOf(url, 'TRACE /mcp HTTP/1.1', 'Host: localhost', LAST)).toBe(405);
  expect((await fetch(url, listTools)).status).toBe(200);
});

test('/healthz answers ok to everybody, under any host name', async () => {
  const { url } = await hosting();
  const response = await fetch(new URL('/healthz', url));
  expect([response.status, await response.text()]).toEqual([200, 'ok']);
  expect(await statusOf(url, 'GET /healthz HTTP/1.1', 'Host: 10.0.0.7', LAST)).toBe(200);
});

const WIDE = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`k${n}`, 0]));

test.each([
  ['of over 64 KiB', { experimental: { x: { y: 'y'.repeat(65_536) } } }],
  ['of over 1000 members', { experimental: WIDE }],
])(
  'an initialize %s is rejected before it is validated, however old clients are served',
  async (_what, capabilities) => {
    for (const legacyClients of ['sessions', 'stateless'] as const) {
      const { url } = await hosting({ legacyClients });
      const clientInfo = { name: 'x', version: '1' };
      const init = oldRequest('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
      expect(await read(await fetch(url, init))).toEqual({
        status: 413,
        error: {
          code: -32000,
          message:
            'An initialize has at most 65536 bytes and 1000 members of objects and arrays; declare less',
        },
      });
    }
  },
);

test('a _meta of over 1000 members is rejected before it is validated', async () => {
  const { url } = await hosting();
  const { body } = listTools;
  const { params, ...message } = JSON.parse(`${body}`);
  const wide = { ...message, params: { ...params, _meta: { ...params._meta, WIDE } } };
  expect(await read(await fetch(url, { ...listTools, body: JSON.stringify(wide) }))).toMatchObject({
    status: 413,
    error: { message: expect.stringMatching(/^_meta has at most 1000 members/) },
  });
});

test('members that are nested as deep as they may are an error and no failure of the server', async () => {
  const { url, errors } = await hosting();
  const deep = `${'['.repeat(9900)}${']'.repeat(9900)}`;
  const bodies = [
    deep,
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who","arguments":{"x":${deep}}}}`,
    `{"jsonrpc":"2.0","id":1,"result":${deep}}`,
  ];
  const session = await beginSession(url);
  for (const request of [listTools, oldRequest('tools/list', {}, session)]) {
    for (const body of bodies) {
      const { status } = await fetch(url, { ...request, body });
      expect(status).toBeLessThan(500);
    }
  }
  expect(errors.filter((error) => error.includes('stack'))).toEqual([]);
});

test.each(['not json', '', '{"jsonrpc":', '\u0000'])('the body `%s` is not JSON', async (body) => {
  const { url } = await hosting();
  expect(await read(await fetch(url, { ...listTools, body }))).toEqual({
    status: 400,
    error: { code: -32700, message: 'Parse error' },
  });
});

test.each(['null', '[]', '7', '"text"', '{}', '[[]]', '{"jsonrpc":"2.0","id":{},"method":7}'])(
  'the JSON %s is no request',
  async (body) => {
    const { url } = await hosting();
    expect((await fetch(url, { ...listTools, body })).status).toBe(400);
  },
);

test('a batch is rejected from clients of both eras, and nothing of it runs', async () => {
  const { url } = await hosting();
  const session = await beginSession(url);
  for (const request of [requestInit('tools/list'), oldRequest('tools/list', {}, session), INITIALIZE]) {
    expect(await read(await fetch(url, { ...request, body: `[${request.body}]` }))).toEqual({
      status: 400,
      error: { code: -32600, message: 'Send one message at a time, not a batch' },
    });
  }
});

test.each([
  ['text/plain', 415],
  ['application/jsonp', 415],
  ['application/json-patch+json', 415],
  ['application/json; charset=utf-8', 200],
  ['Application/JSON', 200],
])('a body of type %s is answered with %i', async (type, status) => {
  const { url } = await hosting();
  expect((await fetch(url, withHeaders(listTools, { 'content-type': type }))).status).toBe(status);
});

test('an encoded body is rejected before it is read', async () => {
  const { url } = await hosting();
  expect((await fetch(url, withHeaders(listTools, { 'content-encoding': 'gzip' }))).status).toBe(415);
});

test('a request for a whole URL is rejected, and its connection ends', async () => {
  const { url } = await hosting();
  const connection = await rawConnection(url);
  const answer = await connection.send(
    'POST http://localhost/mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n',
  );
  expect(answer.toLowerCase()).toMatch(/^http\/1\.1 400 [\s\S]*\r\nconnection: close\r\n/);
});

const CHECK = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n';
const checks = (count: number) => `${`${CHECK}\r\n`.repeat(count - 1)}${CHECK}${LAST}\r\n\r\n`;
const waitText = (url: URL) => httpText(url, requestInit('tools/call', { name: 'wait' }));

test('64 requests of one connection wait for their responses, and all get one', async () => {
  const { url, entered, release } = await hosting();
  // In one piece, so that all have begun before the first is answered.
  const answers = (await rawConnection(url)).send(`${waitText(url)}${checks(63)}`);
  await entered;
  release();
  expect((await answers).match(/HTTP\/1\.1 200 /g)).toHaveLength(64);
});

test('a connection with more requests that wait for their responses ends, and so does its call', async () => {
  const { url, entered } = await hosting();
  const connection = await rawConnection(url);
  void connection.send(waitText(url));
  const { signal } = (await entered).mcpReq;
  const ended = connection.send(checks(64));
  expect(await within(5000, ended, () => 'The connection was not ended.')).toBe('');
  if (!signal.aborted) await within(5000, once(signal, 'abort'), () => 'The signal did not fire.');
});
