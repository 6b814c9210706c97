/** The approval page in a real browser: its protection, its content and its look. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Bank, impatientPage, openBank } from '../../../../demos/recipes/bank.test-support.ts';
import {
  hasNothingSerious,
  isNoWiderThanTheScreen,
  NARROW,
  picture,
  TestBrowser,
  WIDE,
} from './browser.test-support.ts';

let browser: TestBrowser;
let bank: Bank;
let elsewhere: Server;

before(async () => {
  browser = await TestBrowser.open();
  bank = await openBank();
  elsewhere = createServer((_request, response) => response.setHeader('content-type', 'text/html').end());
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
});
afterEach(() => browser.closePages());
after(async () => {
  await browser?.close();
  await bank?.close();
  elsewhere?.close();
});

/** A page in a browser where ada is signed in. */
async function pageOfAda(options: Parameters<TestBrowser['page']>[0] = {}, { site } = bank): Promise<Page> {
  const page = await browser.page({ javaScriptEnabled: false, ...options }, { collects: false });
  await page.context().addCookies([{ name: 'user', value: 'ada', url: site().origin }]);
  return page;
}

const approves = async ({ answer }: Awaited<ReturnType<Bank['pay']>>) =>
  (await answer())?.startsWith('Paid') ?? false;

test('a press on the button approves, and the refusal comes first for the keyboard', async () => {
  const asked = await bank.pay(120);
  const page = await pageOfAda();
  await page.goto(asked.link);
  assert.equal(await approves(asked), false);
  const order: string[] = [];
  for (let tab = 0; tab < 2; tab++) {
    await page.keyboard.press('Tab');
    order.push(await page.locator(':focus').innerText());
  }
  assert.deepEqual(order, ['Do not pay', 'Pay']);
  await page.keyboard.press('Enter');
  await page.getByText('Approved. You can close this page').waitFor();
  assert.equal(await approves(asked), true);
});

test('a page that is only opened, fetched ahead or framed approves nothing', async () => {
  const asked = await bank.pay(120);
  const page = await pageOfAda({ javaScriptEnabled: true });
  await page.goto(asked.link);
  await page.reload();
  const { port } = elsewhere.address() as AddressInfo;
  // Another port is another origin, of the same site: the cookie comes along.
  await page.goto(`http://localhost:${port}/`);
  await page.setContent(
    `<link rel="prefetch" href="${asked.link}"><img src="${asked.link}"><iframe src="${asked.link}"></iframe>`,
  );
  const [, frame] = page.frames();
  await frame?.waitForURL('chrome-error://**');
  assert.doesNotMatch((await frame?.content()) ?? '', /Pay/);
  assert.equal(await approves(asked), false);
});

test('a form on another site approves nothing, even with the right token', async () => {
  const asked = await bank.pay(120);
  const page = await pageOfAda({ javaScriptEnabled: true });
  await page.goto(asked.link);
  const token = await page.locator('[name=token]').inputValue();
  await page.goto(`http://localhost:${(elsewhere.address() as AddressInfo).port}/`);
  await page.setContent(`<form method="post" action="${asked.link}"><input name="token" value="${token}">
    <button name="decision" value="approve">Win</button></form>`);
  const [response] = await Promise.all([
    page.waitForResponse((one) => one.request().method() === 'POST'),
    page.getByRole('button').click(),
  ]);
  assert.equal(response.status(), 403);
  assert.equal(await approves(asked), false);
});

test('shows each detail whole, also beside one with a long name', async (t) => {
  const details = { ['N'.repeat(300)]: 'of a long name', 'Sent to': 'y'.repeat(300) };
  const detailed = await openBank((policy, url) => {
    const page = impatientPage()(policy, url);
    const question: typeof page.question = (ctx, words, more) =>
      page.question(ctx, words, { ...more, details });
    return Object.assign(Object.create(page), { question });
  });
  t.after(() => detailed.close());
  const { link } = await detailed.pay(120);
  const page = await pageOfAda({ viewport: NARROW }, detailed);
  await page.goto(link);
  assert.deepEqual(await page.locator('dd').allInnerTexts(), Object.values(details));
  for (const value of await page.locator('dd').all()) {
    const { x, width } = (await value.boundingBox()) ?? { x: -1, width: 0 };
    assert.ok(x > 0 && width > 100 && x + width <= NARROW.width, `${x}, ${width}`);
  }
  await picture(page, 'approve-details');
});

const HARD = `${'الدفع إلى سارة '.repeat(4)}\u202e<script>${'x'.repeat(400)}`;

for (const colorScheme of ['light', 'dark'] as const) {
  for (const [name, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
    test(`is readable ${colorScheme} and ${name}, with a long name that is written from right to left`, async () => {
      const { link } = await bank.pay(120, HARD);
      const page = await pageOfAda({ javaScriptEnabled: true, colorScheme, viewport });
      await page.goto(link);
      assert.equal(await page.locator('html').getAttribute('lang'), 'en');
      await page.getByRole('heading', { level: 1, name: 'Do you approve this?' }).waitFor();
      assert.equal(await page.getByRole('button').count(), 2);
      assert.equal(await page.locator('script').count(), 0);
      assert.match(await page.locator('blockquote').innerText(), /more characters/);
      await isNoWiderThanTheScreen(page);
      await hasNothingSerious(page);
      await picture(page, `approve-${colorScheme}-${name}`);
    });
  }
}
