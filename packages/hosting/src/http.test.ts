import { requestInit } from '@mrtr/harness/internal';
import { expect, test } from 'vitest';
import { hosting, INITIALIZE, modernClient, oldClient, oldRequest, read } from './hosting.test-support.ts';

const text = (said: string) => [{ type: 'text', text: said }];

test('old clients have sessions of their own, and a session ends when its client says so', async () => {
  const { url } = await hosting();
  const [one, other] = await Promise.all([fetch(url, INITIALIZE), fetch(url, INITIALIZE)]);
  const ids = [one, other].map(({ headers }) => headers.get('mcp-session-id') ?? '');
  expect(new Set(ids).size).toBe(2);
  const session = { 'mcp-session-id': ids[0] ?? '' };
  expect((await fetch(url, { method: 'DELETE', headers: session })).status).toBe(200);
  const statuses = ids.map(async (id) => (await fetch(url, oldRequest('tools/list', {}, id))).status);
  expect(await Promise.all(statuses)).toEqual([404, 200]);
});

test('a session id that was never given out is not found', async () => {
  const { url } = await hosting();
  for (const method of ['POST', 'GET', 'DELETE']) {
    const request = { ...oldRequest('tools/list', {}, 'guessed'), method };
    if (method !== 'POST') delete request.body;
    expect(await read(await fetch(url, request))).toEqual({
      status: 404,
      error: { code: -32000, message: 'Session not found' },
    });
  }
});

test('an old client that does not begin with initialize is told to do so', async () => {
  const { url } = await hosting();
  expect(await read(await fetch(url, oldRequest('tools/list')))).toMatchObject({ status: 400 });
  expect(await read(await fetch(url))).toMatchObject({ status: 400 });
});

test('stateless serving gives an old client no session, and cannot ask its user', async () => {
  const { url } = await hosting({ legacyClients: 'stateless' });
  const old = await oldClient(url);
  expect((await old.listTools()).tools).toHaveLength(6);
  expect(await old.callTool({ name: 'ask' }).catch((error) => error)).not.toMatchObject({
    content: text('Asked.'),
  });
  expect(old.asked).toEqual([]);
  expect((await fetch(url, INITIALIZE)).headers.get('mcp-session-id')).toBeNull();
});

test('a server serves the path that its options name, and no other', async () => {
  const { url } = await hosting({ path: '/tools' });
  expect(url.pathname).toBe('/tools');
  expect((await (await modernClient(url)).listTools()).tools).toHaveLength(6);
  expect((await fetch(new URL('/mcp', url))).status).toBe(404);
});

test('a port that is taken is an error with its code', async () => {
  const { url } = await hosting();
  await expect(hosting({ port: Number(url.port) })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('pages at the root of the site leave the MCP server its path, and browsers come from anywhere', async () => {
  const pages = { path: '', fetch: async () => new Response('A page.') };
  const { url } = await hosting({ pages: [pages] });
  expect((await read(await fetch(url, requestInit('tools/list')))).result).toHaveProperty('tools');
  const init = { headers: { origin: 'https://elsewhere.example' } };
  expect(await (await fetch(new URL('/start', url), init)).text()).toBe('A page.');
});

test('an `onclose` of the author that throws, at once or later, ends no process', async () => {
  const throws = [
    () => {
      throw new Error('at once');
    },
    async () => {
      throw new Error('later');
    },
  ];
  const served = await hosting();
  const make = served.server.bind(served);
  served.server = () => {
    const server = make();
    server.server.onclose = throws[0] as () => void;
    throws.reverse();
    return server;
  };
  for (const _ of throws) await (await fetch(served.url, requestInit('tools/list'))).text();
  await expect.poll(() => [...served.errors].sort()).toEqual(['at once', 'later']);
});
