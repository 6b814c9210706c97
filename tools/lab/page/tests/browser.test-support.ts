/** A real browser, a live lab and an exported one, for one run of the browser suite. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import { RunningProcess } from '@mrtr/harness/process';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';

export const root = fileURLToPath(new URL('../../../../', import.meta.url));

const PICTURES = join(root, 'node_modules/.cache/mrtr-lab/pictures');

const DOCUMENTED = ['front-wide-light', 'front-wide-dark', 'lesson', 'report'];

/** Takes a picture, in a temporary folder or in place of the documents' picture. */
export async function picture(of: Page | Locator, name: string): Promise<void> {
  const documents = process.env.MRTR_LAB_PICTURES;
  const folder = documents !== undefined && DOCUMENTED.includes(name) ? documents : PICTURES;
  mkdirSync(folder, { recursive: true });
  await of.screenshot({ path: join(folder, `${name}.png`) });
}

/** Without these flags the browser contacts its maker's hosts. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const WIDE = { width: 1440, height: 900 };
export const NARROW = { width: 390, height: 844 };

/** A generous limit for waiting, because a busy machine is slow. */
const PATIENCE_MS = 60_000;

export const run = (args: readonly string[], env?: Readonly<Record<string, string>>): RunningProcess =>
  new RunningProcess({ command: process.execPath, args, env }, { cwd: root, patienceMs: 600_000 });

export async function runToItsEnd(args: readonly string[], expected = 0): Promise<void> {
  const running = run(args);
  assert.equal(await running.ended, expected, running.output.out + running.output.err);
}

export async function exportPage(folder: string): Promise<string> {
  await runToItsEnd(['tools/lab/run.mjs', '--export', folder]);
  return pathToFileURL(join(folder, 'index.html')).href;
}

export class TestBrowser {
  readonly chromium: Browser;
  readonly folder = mkdtempSync(join(tmpdir(), 'mrtr-lab-'));
  /** The errors and warnings of pages. A working page has none. */
  readonly complaints: string[] = [];

  private constructor(browser: Browser) {
    this.chromium = browser;
  }

  static async open(): Promise<TestBrowser> {
    const executablePath = process.env.MRTR_CHROMIUM ?? '/usr/bin/chromium';
    if (!existsSync(executablePath)) throw new Error(`There is no browser at ${executablePath}.`);
    return new TestBrowser(await chromium.launch({ executablePath, args: FLAGS }));
  }

  async page(options: Parameters<Browser['newContext']>[0] = {}, { collects = true } = {}): Promise<Page> {
    const context = await this.chromium.newContext({ viewport: WIDE, ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    if (!collects) return page;
    page.on('pageerror', ({ message }) => this.complaints.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(message.text());
    });
    return page;
  }

  async closePages(): Promise<void> {
    for (const context of this.chromium.contexts()) await context.close();
  }

  async close(): Promise<void> {
    await this.chromium.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function hasNothingSerious(page: Page): Promise<void> {
  // Our pages have no frames. Legacy mode, without the passed elements, takes a third of the time.
  const axe = new AxeBuilder({ page }).setLegacyMode(true);
  const { violations } = await axe.options({ preload: false, resultTypes: ['violations'] }).analyze();
  const serious = violations
    // Two regions with one name are a moderate finding.
    .filter(({ id, impact }) => impact === 'serious' || impact === 'critical' || id === 'landmark-unique')
    .map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 200))]);
  assert.deepEqual(serious, []);
}

export async function isNoWiderThanTheScreen(page: Page): Promise<void> {
  const overflows = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('.page')].map(
      ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth,
    ),
  );
  assert.ok(overflows.every((one) => one === 0));
}

/** Whether both results stand above the lanes, and the player covers nothing. */
export async function standsInOrder(page: Page): Promise<void> {
  const seen = await page.evaluate(() => {
    const [results, lanes, player] = ['.results', '.lanes', '.timeline'].map((selector) =>
      document.querySelector(selector)?.getBoundingClientRect(),
    );
    if (!results || !lanes || !player) return undefined;
    const { left, right, top, bottom } = player;
    const points = [0.1, 0.3, 0.5, 0.7, 0.9].map((part) => [
      left + part * (right - left),
      top + part * (bottom - top),
    ]);
    return {
      sentences: document.querySelectorAll('.results .sentence').length,
      areAbove: results.height > 0 && results.bottom <= lanes.top,
      covered: points.flatMap(([x = 0, y = 0]) =>
        document.elementsFromPoint(x, y).filter((one) => one.closest('.side, .fork, .results, .intro')),
      ).length,
    };
  });
  assert.deepEqual(seen, { sentences: 2, areAbove: true, covered: 0 });
}

export class SideOnPage {
  readonly region: Locator;
  readonly #name: 'left' | 'right';

  constructor(page: Page, name: 'left' | 'right') {
    this.#name = name;
    this.region = page.getByRole('region', { name: name === 'left' ? /^Left/ : /^Right/ });
  }

  button(name: string | RegExp): Locator {
    return this.region.getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) });
  }

  tab(name: string): Locator {
    return this.region.getByRole('tab', { name });
  }

  select(label: string): Locator {
    return this.region.getByLabel(`${label} on the ${this.#name}`);
  }

  async setUp(): Promise<string> {
    const labels = ['Shape', 'Tool', 'Client', 'Instances'];
    const values = await Promise.all(labels.map((label) => this.select(label).inputValue()));
    const isSingle = await this.region.getByLabel('single use').isChecked();
    return [...values, isSingle ? 'single' : 'repeatable'].join('.');
  }

  async waitForQuestion(message = ''): Promise<void> {
    await this.region.getByRole('form', { name: 'The tool asks you' }).getByText(message).first().waitFor();
  }

  async callUntilAsked(): Promise<void> {
    await this.call();
    await this.waitForQuestion();
  }

  async callAndAnswer(choice: string): Promise<void> {
    await this.callUntilAsked();
    await this.answer(choice);
    await this.over();
  }

  async call(): Promise<void> {
    await this.button('Make the call').click();
  }

  async next(label: 'goes to' | 'is delivered', choice: string): Promise<void> {
    await this.region.getByLabel(`on the ${this.#name} ${label}`).selectOption(choice);
  }

  async over(): Promise<void> {
    await this.region.getByRole('button', { name: 'Make the call', disabled: false }).waitFor();
  }

  async answer(choice: string): Promise<void> {
    await this.button(choice).click();
  }

  async tick(label: string): Promise<void> {
    const box = this.region.getByLabel(label);
    await box.click();
    await this.region.locator('label:has(input:checked)', { hasText: label }).waitFor();
  }

  async counts(name: RegExp, expected: RegExp): Promise<void> {
    const counts = this.region.getByRole('list', { name: 'Counts at this step' }).getByRole('listitem');
    await counts.filter({ hasText: name }).filter({ hasText: expected }).waitFor();
  }

  /** Waits until the table of events has this text, on one line. */
  async tells(expected: RegExp): Promise<void> {
    const table = this.region.getByRole('table', { name: 'Every event, in order' });
    await table.filter({ hasText: expected }).waitFor({ state: 'attached' });
  }

  says(expected: string): Promise<void> {
    return this.region.locator('.sentence', { hasText: expected }).waitFor();
  }

  async lines(look: 'ran' | 'again' | 'broken' | 'here' | 'waits'): Promise<number[]> {
    const numbers = await this.region.locator(`.source li.${look} .number`).allInnerTexts();
    return numbers.map(Number);
  }
}
