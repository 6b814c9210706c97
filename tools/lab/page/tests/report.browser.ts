/** The checker's report in a real browser: it opens from a disk, and the lab's viewer draws its conversations. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import {
  hasNothingSerious,
  isNoWiderThanTheScreen,
  NARROW,
  picture,
  runToItsEnd,
  TestBrowser,
  WIDE,
} from './browser.test-support.ts';

let browser: TestBrowser;

before(async () => {
  browser = await TestBrowser.open();
  // Build the viewer as in the package.
  await runToItsEnd(['tools/lab/run.mjs', '--viewer', 'packages/check/viewer']);
});
afterEach(() => browser.closePages());
after(() => browser?.close());

async function writeReport(name: string, args: readonly string[]): Promise<string> {
  const file = join(browser.folder, `${name}.html`);
  const program = ['--import', 'tsx', 'packages/check/src/main.ts', '--allow-effects'];
  await runToItsEnd([...program, '--report', `html=${file}`, ...args], 1);
  return pathToFileURL(file).href;
}

const finding = (page: Page, id: string): Locator =>
  page.locator('.finding', { has: page.getByRole('heading', { name: `fail: ${id}` }) });

describe('a report of a server that serves one approval twice', () => {
  let address: string;

  before(async () => {
    const world = ['--world', browser.folder, '--fault', 'retry.twice'];
    const answers = ['account="checking"', 'sure=true', 'memo="lunch"'].flatMap((one) => ['--answer', one]);
    address = await writeReport('twice', [
      ...['--tool', 'transfer', '--arguments', '{"to":"bob","amount":5}', ...answers],
      ...['--probe', 'tool:count', '--one-time', '--header', 'x-user: ada', '--other-header', 'x-user: eve'],
      ...['--', process.execPath, 'tests/check/servers/bare.mjs', ...world],
    ]);
  });

  test('draws the conversation of each finding in lanes, in place of its text', async () => {
    const page = await browser.page();
    await page.goto(address);
    const found = finding(page, 'retry.twice');
    assert.equal(await found.locator('.lifeline').count(), 2);
    assert.equal(await found.locator('[data-mrtr-text]').isVisible(), false);
    const rows = await found.getByRole('table', { name: 'Every event, in order' }).innerText();
    assert.match(
      rows,
      /\+ sure, memo[\s\S]*probe: \d+ → \d+[\s\S]*\+ sure, memo[\s\S]*probe: \d+ → \d+ — AGAIN/,
    );
    await found.getByText('2 changes seen').waitFor();
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      found.getByRole('link', { name: 'Save this transcript for the lab' }).click(),
    ]);
    assert.equal(saved.suggestedFilename(), 'transcript.json');
    const { format, events } = JSON.parse(await readFile(await saved.path(), 'utf8'));
    assert.equal(format, 'mrtr-transcript');
    assert.equal(events.filter(({ kind }: { kind: string }) => kind === 'effect').length, 2);
    assert.equal(
      await page.locator('.mrtr-viewer').count(),
      await page.locator('script[data-mrtr-transcript]').count(),
    );
    await picture(found, 'report');
  });

  test('takes keys only in the conversation that has the focus', async () => {
    const page = await browser.page();
    await page.goto(address);
    const steps = page.locator('.timeline output');
    const [first = '', second = ''] = await steps.allInnerTexts();
    await page.keyboard.press('Home');
    assert.deepEqual((await steps.allInnerTexts()).slice(0, 2), [first, second]);
    await page
      .getByRole('group', { name: /^Conversation/ })
      .nth(1)
      .focus();
    await page.keyboard.press('Home');
    assert.equal((await steps.allInnerTexts())[0], first);
    assert.match((await steps.allInnerTexts())[1] ?? '', /^1\/\d+ tools\/call transfer /);
    await page.keyboard.press('2');
    assert.equal(await page.getByRole('button', { name: 'Wire', pressed: true }).count(), 1);
  });

  test('shows the conversations as text where no script runs', async () => {
    const page = await browser.page({ javaScriptEnabled: false });
    await page.goto(address);
    const text = finding(page, 'retry.twice').locator('[data-mrtr-text]');
    assert.match(await text.innerText(), /mrtr-check +server[\s\S]*├─+▶│/);
  });

  for (const [size, viewport, colorScheme] of [
    ['wide', WIDE, 'light'],
    ['narrow', NARROW, 'dark'],
  ] as const) {
    test(`fits a ${size} screen in ${colorScheme}, and axe finds nothing serious`, async () => {
      const page = await browser.page({ viewport, colorScheme, reducedMotion: 'reduce' });
      await page.goto(address);
      await isNoWiderThanTheScreen(page);
      await hasNothingSerious(page);
    });
  }
});

test('no page complained', () => {
  assert.deepEqual(browser.complaints, []);
});
