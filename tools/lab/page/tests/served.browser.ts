/** A web page as MCP client, in a real browser. Its origin decides whether a server accepts it. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { root, run, TestBrowser } from './browser.test-support.ts';

const PAGE = `
  import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
  window.call = async (url, token, mode) => {
    const client = new Client(
      { name: 'page', version: '1.0.0' },
      { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
    );
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { units: 'metric' } }));
    const requestInit = { headers: { authorization: 'Bearer ' + token } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    const { content } = await client.callTool({ name: 'get_weather', arguments: { location: 'Tokyo' } });
    await client.close();
    return content[0].text;
  };
  window.plain = (url, init) => fetch(url, init).then(({ type }) => type, () => 'blocked');
`;

const TOKEN = 'a-token-of-the-page';

let browser: TestBrowser;
let site: Server;
let served: ReturnType<typeof run>;
let url: string;

async function siteWithPage(): Promise<Server> {
  const esbuild = createRequire(join(root, 'package.json'))('esbuild') as typeof import('esbuild');
  const { outputFiles } = await esbuild.build({
    stdin: { contents: PAGE, resolveDir: join(root, 'packages/hosting') },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  });
  const html = `<!doctype html><title>client</title><link rel="icon" href="data:,"><script type="module">${outputFiles[0]?.text.replaceAll('</script', '<\\/script')}</script>`;
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html; charset=utf-8').end(html),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function pageOf(name: string) {
  const page = await browser.page({}, { collects: false });
  await page.goto(`http://${name}:${(site.address() as AddressInfo).port}/`);
  await page.waitForFunction('window.call');
  return page;
}

before(async () => {
  browser = await TestBrowser.open();
  site = await siteWithPage();
  const args = ['serve', 'option-e', '--http', '0', '--token-env', 'TOKENS'];
  served = run(['tools/cli/run.mjs', ...args], { TOKENS: `page=${TOKEN}` });
  url = await served.until(({ err }) => /http:\S+\/mcp/.exec(err)?.[0]);
});
afterEach(() => browser.closePages());
after(async () => {
  await browser?.close();
  site?.close();
  await served?.stop();
});

for (const mode of ['auto', 'legacy']) {
  test(`a page of an allowed origin is asked and served, in ${mode} mode`, async () => {
    const page = await pageOf('localhost');
    const text = await page.evaluate(`window.call('${url}', '${TOKEN}', '${mode}')`);
    assert.match(String(text), /Tokyo/);
  });
}

test('a page of a refused origin reads nothing, and its calls do not reach the tool', async () => {
  const page = await pageOf('elsewhere.localhost');
  await assert.rejects(page.evaluate(`window.call('${url}', '${TOKEN}', 'auto')`), /Failed to fetch/);
  const init = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
  for (const request of [{}, init, { method: 'DELETE' }]) {
    assert.equal(await page.evaluate(`window.plain('${url}', ${JSON.stringify(request)})`), 'blocked');
  }
});
