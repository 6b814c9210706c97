/** Pages for browsers, which are served beside the MCP server. */
import { Deferred, requestInit } from '@mrtr/harness';
import { expect, onTestFinished, test } from 'vitest';
import { serveHttp } from '../http.ts';

test('serveHttp serves pages beside the MCP server, for its own hosts, from anywhere', async () => {
  const pages = { path: '/link', fetch: async () => new Response('A page.') };
  const http = await serveHttp(
    { server: () => never(), close: async () => {} },
    { pages: [pages], drainMs: 100 },
  );
  onTestFinished(() => http.close());
  const page = await fetch(new URL('/link/start?id=x', http.url), {
    headers: { origin: 'https://elsewhere.example' },
  });
  expect([page.status, await page.text()]).toEqual([200, 'A page.']);
  expect((await fetch(new URL('/linkstart', http.url))).status).toBe(404);
  const { status } = await fetch(
    http.url,
    requestInit('tools/list', {}, { headers: { origin: 'https://elsewhere.example' } }),
  );
  expect(status).toBe(403);
});

test('a page that is being served is waited for when the server closes', async () => {
  const [entered, released] = [new Deferred(), new Deferred()];
  const pages = {
    path: '/slow',
    async fetch() {
      entered.open();
      await released.promise;
      return new Response('Served.');
    },
  };
  const http = await serveHttp({ server: () => never(), close: async () => {} }, { pages: [pages] });
  const response = fetch(new URL('/slow/page', http.url));
  await entered.promise;
  const closed = http.close();
  released.open();
  expect(await (await response).text()).toBe('Served.');
  await closed;
});

function never(): never {
  throw new Error('No MCP request is sent.');
}
