/** The checker's report in a real browser: it opens from a disk, and the lab's viewer draws its conversations. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import {
  hasNothingSerious,
  isNoWiderThanTheScreen,
  NARROW,
  picture,
  runToItsEnd,
  Stage,
  WIDE,
} from './support.ts';

let stage: Stage;

before(async () => {
  stage = await Stage.open();
  // As the package brings it.
  await runToItsEnd(['demos/lab/run.mjs', '--viewer', 'packages/check/viewer']);
});
after(() => stage?.close());

/** Has `mrtr-check` write its page, and resolves with the page's address. */
async function writeReport(name: string, args: readonly string[]): Promise<string> {
  const file = join(stage.folder, `${name}.html`);
  const program = ['--import', 'tsx', 'packages/check/src/main.ts', '--allow-effects'];
  await runToItsEnd([...program, '--report', `html=${file}`, ...args], 1);
  return pathToFileURL(file).href;
}

const finding = (page: Page, id: string): Locator =>
  page.locator('.finding', { has: page.getByRole('heading', { name: `fail: ${id}` }) });

describe('a report of a server that serves one approval twice', () => {
  let address: string;

  before(async () => {
    const world = ['--world', stage.folder, '--fault', 'retry.twice'];
    const answers = ['account="checking"', 'sure=true', 'memo="lunch"'].flatMap((one) => ['--answer', one]);
    address = await writeReport('twice', [
      ...['--tool', 'transfer', '--arguments', '{"to":"bob","amount":5}', ...answers],
      ...['--probe', 'tool:count', '--one-time', '--header', 'x-user: ada', '--other-header', 'x-user: eve'],
      ...['--', process.execPath, 'tests/check/servers/bare.mjs', ...world],
    ]);
  });

  it('draws the conversation of each finding in lanes, in place of its text', async () => {
    const page = await stage.page();
    await page.goto(address);
    const found = finding(page, 'retry.twice');
    assert.equal(await found.locator('.lifeline').count(), 2);
    assert.equal(await found.locator('[data-mrtr-text]').isVisible(), false);
    const rows = await found.getByRole('table', { name: 'Every event, in order' }).innerText();
    assert.match(rows, /tools\/call transfer[\s\S]*\+ sure, memo[\s\S]*\+ sure, memo[\s\S]*probe: \d+ → \d+/);
    await found.getByText('1 change seen').waitFor();
    assert.equal(
      await page.locator('.mrtr-viewer').count(),
      await page.locator('script[data-mrtr-transcript]').count(),
    );
    await picture(found, 'report');
    await page.context().close();
  });

  it('takes keys only in the conversation that has the focus', async () => {
    const page = await stage.page();
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
    await page.context().close();
  });

  it('shows the conversations as text where no script runs', async () => {
    const page = await stage.page({ javaScriptEnabled: false });
    await page.goto(address);
    const text = finding(page, 'retry.twice').locator('[data-mrtr-text]');
    assert.match(await text.innerText(), /mrtr-check +server[\s\S]*├─+▶│/);
    await page.context().close();
  });

  for (const [size, viewport, colorScheme] of [
    ['wide', WIDE, 'light'],
    ['narrow', NARROW, 'dark'],
  ] as const) {
    it(`fits a ${size} screen in ${colorScheme}, and axe finds nothing serious`, async () => {
      const page = await stage.page({ viewport, colorScheme, reducedMotion: 'reduce' });
      await page.goto(address);
      await isNoWiderThanTheScreen(page);
      await hasNothingSerious(page);
      await page.context().close();
    });
  }
});

/** Words that end a script or a comment, or begin one, run where they are taken for markup, or turn a line around. */
const HOSTILE = `</script><script>document.title="owned"</script><!-- <script> --></pre>"'><img src=x onerror="document.title='owned'"> \u202eowned\u2066 \u001b[2J`;
/** An object of which no string can be made. */
const TEXTLESS = { toString: 1, valueOf: null };

describe('a report of a server that says hostile things', () => {
  let server: Server;
  before(async () => {
    server = await hostileServer();
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('draws them as text, and runs none of them', async () => {
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/mcp?${encodeURIComponent(HOSTILE)}`;
    const address = await writeReport('hostile', [
      ...['--tool', HOSTILE, '--arguments', JSON.stringify({ [HOSTILE]: HOSTILE }), '--generate-answers'],
      ...['--timeout', '2', '--only', 'wire,answer,refusal', url],
    ]);
    const page = await stage.page();
    await page.goto(address);
    const drawn = page.locator('.mrtr-viewer');
    assert.ok((await drawn.count()) > 2);
    assert.equal(await drawn.count(), await page.locator('script[data-mrtr-transcript]').count());
    // The first one may be of a request that says nothing hostile.
    const texts = (await drawn.allInnerTexts()).join('\n');
    assert.match(texts, /<\/script><script>document\.title="owned"/);
    assert.doesNotMatch(await page.locator('body').innerText(), /\p{Bidi_Control}|(?!\s)\p{Cc}/u);
    for (const step of ['First step', 'Step on', 'Last step']) await page.getByLabel(step).first().click();
    for (const tab of ['Message', 'State', 'World']) {
      for (const one of await page.getByRole('tab', { name: tab }).all()) await one.click();
    }
    assert.equal(await page.locator('img').count(), 0);
    assert.equal(await page.title(), 'mrtr-check');
    await page.context().close();
  });
});

const FORM = { type: 'object', properties: { [HOSTILE]: { type: 'string', title: HOSTILE } } };
const question = (message: unknown) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: FORM },
});

/** What the hostile server says to each request. Whatever is answered, it takes for consent. */
const HOSTILE_RESULTS: Readonly<Record<string, object>> = {
  'server/discover': {
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
  },
  'tools/list': {
    resultType: 'complete',
    tools: [{ name: HOSTILE, description: HOSTILE, inputSchema: { type: 'object' } }],
  },
  'tools/call': {
    resultType: 'input_required',
    requestState: HOSTILE,
    inputRequests: { [HOSTILE]: question(HOSTILE), textless: question(TEXTLESS) },
  },
  consent: {
    resultType: 'complete',
    content: [{ type: 'text', text: HOSTILE }, { type: TEXTLESS }],
    structuredContent: TEXTLESS,
  },
};

async function hostileServer(): Promise<Server> {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const { id, method, params } = JSON.parse(text);
    const given = params?.inputResponses;
    const isRefused = given && Object.values(given).some((one) => (one as Answer).action === 'cancel');
    const answer = isRefused
      ? { error: { code: TEXTLESS, message: TEXTLESS, data: HOSTILE } }
      : { result: HOSTILE_RESULTS[given ? 'consent' : method] };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

interface Answer {
  readonly action?: unknown;
}

it('no page complained', () => {
  assert.deepEqual(stage.complaints, []);
});
