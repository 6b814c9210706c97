/** The live lab with a server of the user's own, in a real browser. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  hasNothingSerious,
  isNoWiderThanTheScreen,
  NARROW,
  picture,
  run,
  SideOnPage,
  TestBrowser,
} from './browser.test-support.ts';

let browser: TestBrowser;
let lab: ReturnType<typeof run>;
let page: Page;
let left: SideOnPage;

const FILE = 'tools/lab/src/own/pay.test-support.ts';

async function open(...args: readonly string[]): Promise<void> {
  lab = run(['tools/lab/run.mjs', '--server', ...args]);
  page = await browser.page();
  left = new SideOnPage(page, 'left');
  await page.goto(await lab.until(({ out }) => /open at (http:\S+)/.exec(out)?.[1]));
}

before(async () => {
  browser = await TestBrowser.open();
});
afterEach(async () => {
  await browser.closePages();
  await lab.stop();
});
after(() => browser.close());

/** Calls `pay`, and waits for its question. */
async function pay(side = left): Promise<void> {
  await side.region.getByLabel('amount').fill('3');
  await side.button('Call pay').click();
  await side.waitForQuestion('Pay 3?');
}

test('the lines that run again are seen in the author’s own file, and an effect that she names there is red', async () => {
  await open(`npx tsx ${FILE}`);
  await left.button('Call pay').waitFor();
  assert.doesNotMatch(page.url(), /token/);
  assert.equal(await page.getByRole('region', { name: /^Right/ }).count(), 0);
  await hasNothingSerious(page);
  await pay();
  await left.says('pay asks on line 15.');
  assert.deepEqual(await left.lines('here'), [15]);
  await hasNothingSerious(page);
  await left.region.getByLabel('sure').check();
  await left.answer('Answer');
  await left.says('pay’s handler was entered twice: lines 12 to 14 ran again.');
  await left.region.getByText('2×: the line ran in two entries').waitFor();
  assert.deepEqual([await left.lines('again'), await left.lines('here')], [[12, 13, 14], [27]]);
  await left.button(/^Line 12/).click();
  await left.button('effect here').click();
  await left.says('pay ran paid.push(amount) twice: line 12 ran both times the handler was entered.');
  await left.counts(/effects$/, /^2/);
  assert.deepEqual(await left.lines('broken'), [12]);
  await left.tells(/line 12: paid\.push\(amount\) — AGAIN/);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await hasNothingSerious(page);
    await picture(page, `own-wide-${colorScheme}`);
  }
  await page.setViewportSize(NARROW);
  await isNoWiderThanTheScreen(page);
  await hasNothingSerious(page);
  await picture(page, 'own-narrow');
});

test('faults, an agent and the same call with an old client', async () => {
  await open(`node --import tsx ${FILE}`, '--arguments', '{"amount":1}');
  await left.region.getByText('First request:').waitFor();
  await pay();
  await left.region.getByText('Retry:').waitFor();
  await left.next('is delivered', 'lose-answer');
  await left.answer('Let an agent say yes');
  await left.says('ended with an error');
  await left.counts(/entered$/, /^2×/);
  await pay();
  await left.button(/^kill/).click();
  await left.button(/^restart/).click();
  await left.answer('Let an agent say yes');
  await left.tells(/Paid 1 times/);
  await page.getByLabel('Beside it').selectOption('own');
  const right = new SideOnPage(page, 'right');
  await right.button('Call pay').waitFor();
  assert.equal(await right.region.getByLabel('amount').inputValue(), '3');
  await pay(right);
  await right.region.getByLabel('sure').check();
  await right.answer('Answer');
  await right.says('pay’s handler was entered twice');
  await hasNothingSerious(page);
  await page.getByLabel('Beside it').selectOption('nothing');
  await right.region.waitFor({ state: 'detached' });
});

/** A server of another make: it draws on nothing of ours, and what it writes is hostile. */
function foreignServer(): Promise<Server> {
  const tool = {
    name: 'book',
    title: '<img src=x onerror=alert(1)>',
    description: '<script>alert(1)</script>',
    inputSchema: {
      type: 'object',
      properties: {
        where: {},
        __proto__: null,
        days: { type: 'array', items: { enum: ['mo', 'tu'] } },
        nights: { oneOf: [{ const: 1 }, { const: 2, title: 'two' }] },
      },
    },
  };
  const ask = {
    resultType: 'input_required',
    inputRequests: {
      q: {
        method: 'elicitation/create',
        params: {
          message: '<b onmouseover=alert(1)>When?',
          requestedSchema: { type: 'object', properties: { a: { type: 'object' }, b: null } },
        },
      },
    },
  };
  const results = {
    'server/discover': {
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      serverInfo: { name: 'x', version: '1' },
      ttlMs: 0,
      cacheScope: 'private',
    },
    'tools/list': { tools: [tool], ttlMs: 0, cacheScope: 'private' },
  } as Readonly<Record<string, object>>;
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => (text += part));
    request.on('end', () => {
      const { id, method, params } = JSON.parse(text || '{}');
      const done = { content: [{ type: 'text', text: '<i onclick=alert(1)>booked' }] };
      const result = {
        resultType: 'complete',
        ...(results[method] ?? (params?.inputResponses ? done : ask)),
      };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

test('a server at an address shows no lines and says so, and what it writes is text', async () => {
  const server = await foreignServer();
  try {
    await open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
    await left.region.getByText('Lines cannot be shown here').waitFor();
    await left.region.getByText('<script>alert(1)</script>').waitFor();
    await left.region.getByLabel('where').fill('{"city":');
    await left.button('Call book').click();
    await left.region.getByRole('alert').filter({ hasText: /JSON/ }).waitFor();
    await left.region.getByLabel('where').fill('{"city":"Oslo"}');
    await left.region.getByLabel('tu').check();
    await left.region.getByLabel('nights').selectOption('two');
    await left.button('Call book').click();
    await left.tells(/book \{"where":\{"city":"Oslo"\},"days":\["tu"\],"nights":2\}/);
    await left.waitForQuestion('<b onmouseover=alert(1)>When?');
    await hasNothingSerious(page);
    await left.answer('Answer');
    await left.says('book asked once, and answered.');
    assert.deepEqual(browser.complaints, []);
  } finally {
    server.close();
  }
});
