/** The lab in a real browser: first the exported page, then the live one. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { labLink } from '@mrtr/harness';
import type { Page } from 'playwright-core';
import { LESSONS } from '../../src/lessons.ts';
import {
  exportPage,
  hasNothingSerious,
  isNoWiderThanTheScreen,
  NARROW,
  picture,
  root,
  run,
  SideOnPage,
  standsInOrder,
  TestBrowser,
  WIDE,
} from './browser.test-support.ts';

let browser: TestBrowser;
let entry: string;

before(async () => {
  browser = await TestBrowser.open();
  // Exported once: the live lab shows the same recordings.
  entry = await exportPage(join(browser.folder, 'lab'));
});
after(() => browser?.close());

const linkOf = (transcript: unknown): string => {
  const text = typeof transcript === 'string' ? transcript : JSON.stringify(transcript);
  return `${entry}#open=${deflateRawSync(text).toString('base64url')}`;
};

describe('the exported page', () => {
  const asked: string[] = [];
  const open = async (hash = '', options = {}) => {
    const opened = await browser.page(options);
    opened.on('request', (request) => asked.push(request.url()));
    await opened.goto(entry + hash);
    return opened;
  };
  afterEach(() => browser.closePages());

  test('has no more than 60 kB of script', async (t) => {
    const { length } = gzipSync(await readFile(join(browser.folder, 'lab/lab.js')));
    const paints = await (await open()).evaluate(() => performance.getEntriesByType('paint'));
    t.diagnostic(`Script: ${length} B. First paint: ${paints[0]?.startTime} ms (budget: 200 ms).`);
    assert.ok(length <= 60_000);
  });

  test('opens from a disk, with every recording, and says why it cannot run live', async () => {
    const alone = await open();
    await alone.getByRole('link', { name: 'Measured' }).click();
    await alone.getByRole('link', { name: /^F, Can one approval/ }).click();
    const side = new SideOnPage(alone, 'right');
    // Play stops once before the moment of proof.
    await alone.getByRole('button', { name: 'Play' }).click();
    await alone.getByRole('button', { name: 'Play' }).waitFor();
    assert.equal(await side.region.locator('.source .broken').count(), 0);
    await alone.keyboard.press('End');
    await side.counts(/writes?$/, /^2/);
    await alone.getByRole('link', { name: 'Live' }).click();
    await alone.getByText(/This page has no server/).waitFor();
    await alone.getByText('pnpm lab', { exact: true }).waitFor();
    // It plays a kill by itself, from the beginning.
    const killed = new SideOnPage(alone, 'left');
    await killed.says('H is called.');
    await killed.says('H wrote once, and lost the call: the process that its handler waited in is gone.');
    await hasNothingSerious(alone);
  });

  test('shows where the shapes differ, and says that a table scrolls', async () => {
    const narrow = await open('#/measured', { viewport: NARROW });
    const table = narrow.getByRole('region', { name: 'Measured table' });
    await table.getByRole('link', { name: /^F, How often/ }).waitFor();
    await narrow.getByText(/^This table is wider than your screen/).waitFor();
    await narrow.getByLabel('Only where they differ').check();
    await table.getByRole('columnheader', { name: /written\? Most: once\.$/ }).waitFor();
    const left = await table.getByRole('link').allInnerTexts();
    assert.ok(left.length < 45 && left.includes('twice') && !left.includes('once'), left.join());
    await hasNothingSerious(narrow);
    await narrow.setViewportSize({ width: 1440, height: 900 });
    assert.equal(await narrow.getByText(/^This table is wider than your screen/).isVisible(), false);
  });

  for (const [size, viewport] of [
    ['390 px', NARROW],
    ['768 px', { width: 768, height: 1024 }],
    ['200 %', { width: 720, height: 450 }],
  ] as const) {
    test(`at ${size} both results stand above the lanes, and the player covers nothing`, async () => {
      const shown = await open('', { viewport, reducedMotion: 'reduce' });
      for (const hash of ['#/?choice=metric', '#/compare/e-bare.other-state/e.other-state', '#/live']) {
        await shown.goto(entry + hash);
        await new SideOnPage(shown, 'right').region.locator('.row').first().waitFor({ state: 'attached' });
        await standsInOrder(shown);
        await isNoWiderThanTheScreen(shown);
        // Also where the page was scrolled.
        await shown.locator('.side.right .tabs').scrollIntoViewIfNeeded();
        await standsInOrder(shown);
        await picture(shown, `narrow-${size.replace(/\W/g, '')}-${hash.replace(/\W+/g, '-')}`);
      }
    });
  }

  test('keeps a long error in its lane, in lines', async () => {
    const shown = await open('#/lessons/lose?choice=kill', { reducedMotion: 'reduce' });
    const error = shown.locator('.side.left .row.bad text', { hasText: 'cannot be resumed' });
    await error.waitFor({ state: 'attached' });
    assert.ok((await error.locator('tspan').count()) > 1);
    const [box, arrow] = [await error.boundingBox(), await error.locator('..').locator('line').boundingBox()];
    assert.ok(box && arrow && box.x >= arrow.x, 'its text begins where its arrow ends');
    // Both sides stay in step, although only one of them has a long text.
    const tops = await shown.evaluate(() =>
      ['left', 'right'].map((side) =>
        [...document.querySelectorAll(`.side.${side} .band`)].map((band) => band.getAttribute('y')),
      ),
    );
    assert.deepEqual(tops[0], tops[1]);
  });

  test('says in words what a code means, and what a shape is', async () => {
    const shown = await open('#/compare/h-postgres.fleet/e.other-state', { reducedMotion: 'reduce' });
    const [left, right] = [new SideOnPage(shown, 'left'), new SideOnPage(shown, 'right')];
    await left.says('H on PostgreSQL wrote once');
    await right.says('The operator sees why: the state belongs to a call with other arguments.');
    await left.region.getByText('really waits; PostgreSQL keeps what it was told').waitFor();
  });

  test('opens a transcript that is dropped on it, and one in a link, and stops at a hostile one', async () => {
    const shown = await open('#/lessons');
    const recorded = await readFile(join(browser.folder, 'lab/recorded/b.one.js'), 'utf8');
    const { transcript } = JSON.parse(recorded.slice('mrtrRecorded('.length, -');\n'.length));
    const drop = (text: string) =>
      shown.evaluate((dropped) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([dropped], 'one.json'));
        document.querySelector('main')?.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
      }, text);
    await drop(JSON.stringify({ ...transcript, title: 'a dropped one' }));
    await shown.getByRole('heading', { name: 'a dropped one' }).waitFor();
    await shown.goBack();
    await shown.getByRole('heading', { name: 'Seven lessons' }).waitFor();
    const title = '<img src=x onerror="document.title=1">';
    const link = labLink({ ...transcript, title }, entry) ?? '';
    assert.ok(link.length < 10_000, `${link.length}`);
    // From another page, as from a bug report.
    const opened = await open();
    await opened.goto(link);
    await opened.getByRole('heading', { name: title }).waitFor();
    await opened
      .getByText(/wrote its audit record twice: line 9 ran both times/)
      .first()
      .waitFor();
    assert.equal(await opened.locator('main img').count(), 0);
    await hasNothingSerious(opened);
    // The link stays good while one steps, and can be copied.
    await opened.keyboard.press('Home');
    assert.match(opened.url(), /#open=[\w-]+\?step=0$/);
    await opened.reload();
    await opened.getByRole('heading', { name: title }).waitFor();
    for (const [hostile, complaint] of [
      [`${entry}#open=%`, /no transcript: it was cut off/],
      [`${link.slice(0, -40)}`, /no transcript: it was cut off/],
      [`${entry}#open=${'A'.repeat(100_001)}`, /no transcript: it was cut off/],
      // 60 MB of one letter take 60 kB.
      [`${entry}#open=${deflateRawSync('x'.repeat(60_000_000)).toString('base64url')}`, /too large/],
      [linkOf({ ...transcript, events: Array(3001).fill(transcript.events[0]) }), /at most 3000 events/],
      [
        linkOf(`${JSON.stringify(transcript).slice(0, -1)},"x":${'['.repeat(5000)}${']'.repeat(5000)}}`),
        /levels/,
      ],
      [linkOf({ ...transcript, format: 'another' }), /no transcript: its "format"/],
    ] as const) {
      await opened.goto('about:blank');
      await opened.goto(hostile);
      await opened.getByText(complaint).waitFor();
    }
    await opened.goto(`${entry}#/%`);
    await opened.getByRole('heading', { name: /watch a tool write twice$/ }).waitFor();
  });

  test('opens on the fall: one question, and after the answer B writes twice and H once', async () => {
    for (const [colorScheme, reducedMotion] of [
      ['light', 'no-preference'],
      ['dark', 'reduce'],
    ] as const) {
      const alone = await open('', { colorScheme, reducedMotion });
      const [b, h] = [new SideOnPage(alone, 'left'), new SideOnPage(alone, 'right')];
      await b.says('B’s handler has returned. The client holds the question.');
      await h.says('H’s handler waits on line 11, in the memory of the server.');
      assert.deepEqual([await b.lines('here'), await h.lines('waits')], [[11], [11]]);
      await hasNothingSerious(alone);
      await alone.getByRole('button', { name: 'metric' }).click();
      await b.says('B wrote its audit record twice: line 9 ran both times the handler was entered.');
      await h.says('H wrote once: its handler waited on line 11.');
      // Its picture is the moment of the fall.
      await alone.getByRole('slider', { name: 'Step' }).fill('8');
      assert.deepEqual([await b.lines('broken'), await b.lines('here')], [[9], [9]]);
      await picture(alone, `front-wide-${colorScheme}`);
      await alone.keyboard.press('End');
      for (const way of ['Lessons', 'Break it yourself', 'All that is measured'])
        await alone.getByRole('navigation', { name: 'What next' }).getByText(way).waitFor();
      await hasNothingSerious(alone);
      await alone.goBack();
      await alone.getByRole('button', { name: 'imperial' }).waitFor();
      assert.match(await alone.title(), /^See a tool write twice/);
    }
  });

  test('plays every choice of all seven lessons without a server', async () => {
    const alone = await open('#/lessons', { reducedMotion: 'reduce' });
    for (const [at, { id, choices }] of LESSONS.entries()) {
      await alone.goto(`${entry}#/lessons/${id}`);
      for (const { words } of choices) {
        await alone.getByRole('button', { name: words, exact: true }).click();
        for (const side of ['left', 'right'] as const) {
          const { region } = new SideOnPage(alone, side);
          await region.locator('.drawing .row').last().waitFor({ state: 'attached' });
          assert.doesNotMatch(await region.locator('.sentence').innerText(), /nothing has happened/);
        }
        if (id === 'change' && words === 'Somebody changes it') await picture(alone, 'lesson');
        await alone.getByRole('button', { name: 'Choose again' }).click();
      }
      // Together the choices show every mark of the lesson.
      assert.equal(await alone.locator('.marks li:not(.met)').count(), 0, id);
      await hasNothingSerious(alone);
      await alone.getByRole('link', { name: 'Lessons', exact: true }).click();
      await alone.getByText('✓ seen all of it').nth(at).waitFor();
    }
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [size, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
      test(`looks well ${size} and ${colorScheme}, and axe finds nothing serious`, async () => {
        const shown = await open('', { viewport, colorScheme, reducedMotion: 'reduce' });
        for (const [name, hash, last] of [
          ['compare', '#/compare/b.one/h.one', new SideOnPage(shown, 'right').region],
          ['measured', '#/measured', shown.getByRole('link', { name: /^B, How often/ })],
          ['lessons', '#/lessons', shown.getByRole('heading', { name: 'Seven lessons' })],
        ] as const) {
          await shown.goto(entry + hash);
          await last.waitFor();
          await picture(shown, `${name}-${size}-${colorScheme}`);
          await isNoWiderThanTheScreen(shown);
          await hasNothingSerious(shown);
        }
      });
    }
  }

  test('asked no other host for anything', () => {
    assert.ok(asked.length > 0);
    assert.deepEqual(
      asked.filter((url) => !/^(?:file|data):/.test(url)),
      [],
    );
  });
});

/** Serves the option that a copied command names, and does what the command says. */
async function answersCurl(text: string): Promise<void> {
  const [, option = '', port = ''] = /^# pnpm serve (\S+) --http (\d+)/.exec(text) ?? [];
  const served = run(['tools/cli/run.mjs', 'serve', option, '--http', '0']);
  const url = await served.until(({ err }) => /http:\S+\/mcp/.exec(err)?.[0]);
  const command = text.replace(`http://127.0.0.1:${port}/mcp`, url).split('\n').slice(1).join('\n');
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  await served.stop();
  assert.match(stdout, /"resultType":"input_required"/);
}

async function checks(text: string): Promise<void> {
  assert.match(text, /^pnpm mrtr-check /);
  const command = text.replace(/^pnpm mrtr-check/, 'node --import tsx packages/check/src/main.ts --quick');
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: root });
  assert.match(stdout, /0 fail .* \d\d pass/);
}

describe('the live lab', () => {
  let lab: ReturnType<typeof run>;
  let page: Page;
  let left: SideOnPage;
  let right: SideOnPage;

  before(async () => {
    lab = run(['tools/lab/run.mjs']);
    page = await browser.page();
    [left, right] = [new SideOnPage(page, 'left'), new SideOnPage(page, 'right')];
    await page.goto(await lab.until(({ out }) => /open at (http:\S+)/.exec(out)?.[1]));
  });
  after(async () => {
    await page?.context().close();
    await lab?.stop();
  });

  const over = () => Promise.all([left.over(), right.over()]);

  async function hasNothingSeriousInEitherScheme(): Promise<void> {
    for (const colorScheme of ['light', 'dark', null] as const) {
      // Null ends the emulation.
      await page.emulateMedia({ colorScheme, reducedMotion: colorScheme && 'reduce' });
      if (colorScheme) await hasNothingSerious(page);
    }
  }

  async function setUp(one: string, other: string): Promise<void> {
    await page.goto(`${new URL(page.url()).origin}/#/live/${one}/${other}`);
    const button = page.getByRole('button', { name: 'Set it up' });
    for (;;) {
      const now = await Promise.all([left.setUp(), right.setUp()]);
      if (now[0] === one && now[1] === other) break;
      await button.click();
      await button.waitFor({ state: 'hidden' });
    }
    await over();
  }

  const begin = async (number: number) => {
    await page.getByRole('link', { name: 'Lessons', exact: true }).click();
    await page.getByRole('link', { name: `By hand lesson ${number}` }).click();
    await left.button('Make the call').waitFor();
    await over();
  };
  const waitForMet = (words: string) => page.locator('.lesson .met', { hasText: words }).waitFor();
  const waitForSolved = () => page.getByText('Solved.').waitFor();

  test('takes the token out of its address', async () => {
    await page.getByRole('heading', { name: /watch a tool write twice$/ }).waitFor();
    assert.doesNotMatch(page.url(), /token/);
  });

  test('lesson 1: two shapes in lockstep, their differences, the lines that ran, and both counts of effects', async () => {
    await begin(1);
    await hasNothingSeriousInEitherScheme();
    await page.getByRole('button', { name: 'Make both calls' }).click();
    for (const side of [left, right]) await side.waitForQuestion();
    await left.region.getByText(/^expires in \d/).waitFor();
    // What waits for a person is dashed.
    await left.region.locator('.lifeline .waits').waitFor({ state: 'attached' });
    await right.region.locator('.lifeline .parked').waitFor({ state: 'attached' });
    await hasNothingSeriousInEitherScheme();
    for (const side of [left, right]) await side.answer('metric');
    await over();
    await waitForSolved();
    await left.counts(/audit record/, /^2/);
    await right.counts(/audit record/, /^1/);
    assert.equal(await left.region.locator('.counts .bad').count(), 1);
    assert.equal(await left.region.locator('.row.effect.bad').count(), 1);
    // The line that wrote twice is red, and H's code ended below the question that it waited on.
    assert.deepEqual(await left.lines('broken'), [9]);
    assert.deepEqual(await left.lines('again'), [9, 11]);
    assert.deepEqual(await right.lines('here'), [12]);
    assert.deepEqual(await right.lines('again'), []);
    assert.equal(await right.region.locator('.band.absent').count(), 2);
    for (const side of ['.lanes', '.panel', '.counts']) {
      const box = await page.locator(`.side.left ${side}`).boundingBox();
      assert.ok(box && box.y + box.height <= WIDE.height, `${side} is on the screen`);
    }
    await hasNothingSeriousInEitherScheme();
  });

  test('steps to where B jumps back and H stands still, plays, and shows each message', async () => {
    const stepTo = (step: number) => page.getByRole('slider', { name: 'Step' }).fill(`${step - 1}`);
    const output = page.locator('.timeline output');
    await stepTo(5);
    assert.deepEqual([await left.lines('here'), await right.lines('waits')], [[11], [11]]);
    await stepTo(9);
    assert.deepEqual([await left.lines('here'), await right.lines('here')], [[9], [11]]);
    await left.button(/^Line 9/).click();
    assert.equal(await left.region.locator('.band.lit').count(), 2);
    await left.button(/^Line 9/).click();
    assert.equal(await left.region.locator('.band.lit').count(), 0);
    await page.getByRole('button', { name: 'First step' }).click();
    assert.match(await output.innerText(), /^1\/10 tools\/call/);
    // What is zero is left out.
    assert.equal(await left.region.locator('.counts').getByText('audit').count(), 0);
    await page.getByRole('button', { name: 'Step on' }).click();
    assert.match(await output.innerText(), /^2\/10 entry 1/);
    await stepTo(8);
    assert.match(await output.innerText(), /^8\/10 left only: entry 2/);
    await page.getByRole('button', { name: 'Play' }).click();
    await page.getByText(/^10\/10/).waitFor();
    await page.getByRole('button', { name: 'Wire' }).click();
    assert.match(await output.innerText(), /^4\/4/);
    const message = left.region.getByRole('tabpanel');
    assert.match(await message.innerText(), /"resultType": "complete"/);
    await page.getByRole('button', { name: 'Rounds' }).click();
  });

  test('opens a state with the lab’s key, changes it byte by byte, and shows both sides of the refusal', async () => {
    await setUp('j.work-item.modern.one.repeatable', 'f.work-item.modern.one.repeatable');
    await right.callUntilAsked();
    const states = left.region.getByRole('tabpanel');
    /** Answers the first question, has the state changed before the second, and answers that. */
    const withAnother = async (change: string | RegExp) => {
      await left.callUntilAsked();
      await left.answer('Duplicate');
      await left.waitForQuestion('Which item is #4522 a duplicate of?');
      await left.tab('State').click();
      await states.getByText('State of round 2').waitFor();
      assert.match(await states.innerText(), /original \([\s\S]*Duplicate/);
      await states.getByRole('button', { name: change }).click();
      await states.getByText('The next retry brings this').waitFor();
      await left.region.getByLabel('original').fill('4301');
      await left.answer('Answer');
    };
    for (const [change, reason] of [
      [/^byte 40, encrypted/, 'tampered'],
      ['Swap with the other', 'unknown_key'],
    ] as const) {
      await withAnother(change);
      await left.over();
      const text = await states.innerText();
      assert.match(text, /⊘ The client sees: error -32602\s+Invalid or expired requestState/);
      assert.match(text, new RegExp(`sees: ${reason}`));
    }
    // The state of the round before is good for another question, so that one is asked again.
    await withAnother(/round before/);
    await left.waitForQuestion('How was #4522 resolved?');
    await hasNothingSeriousInEitherScheme();
    await left.answer('Cancel');
    await left.over();
    await left.tab('Source').click();
  });

  test('answers by the form that was asked, and with what does not fit it', async () => {
    await setUp('a.weather.modern.one.repeatable', 'g.weather.modern.one.repeatable');
    for (const [choice, told] of [
      ['Nonsense', /kelvin.*Which units\?/],
      ['Say nothing', /says nothing.*Which units\?/],
    ] as const) {
      await right.callUntilAsked();
      await right.answer(choice);
      await right.counts(/asked/, /^2/);
      await right.tells(told);
      await right.answer('metric');
      await right.over();
    }
    await right.callAndAnswer('Decline');
    await right.tells(/declines/);
  });

  test('copies a diagram, a transcript, curl, a check and a link without a token', async () => {
    await left.callAndAnswer('metric');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copy = async (name: string) => {
      await page.getByRole('button', { name: 'Copy', exact: true }).click();
      await page.getByRole('button', { name }).first().click();
      await page.getByText(/^Copied/).waitFor();
      return page.evaluate(() => navigator.clipboard.readText());
    };
    assert.match(await copy('Mermaid diagram'), /^sequenceDiagram/);
    const transcript = JSON.parse(await copy('Transcript (JSON)'));
    const carried = await page.context().newPage();
    await carried.goto(await copy('Link with its transcript'));
    await carried.getByRole('heading', { name: transcript.title }).waitFor();
    await carried.close();
    assert.equal(transcript.format, 'mrtr-transcript');
    const commands = [await copy('First request (curl)'), await copy('mrtr-check command')] as const;
    await Promise.all([answersCurl(commands[0]), checks(commands[1])]);
    const link = await copy('Link to this');
    assert.match(link, /#\/live\/a\.weather\.modern/);
    assert.doesNotMatch(link, /token/);
    // A stranger's browser cannot start anything; a second tab gets the token from the first.
    const stranger = await browser.page({}, { collects: false });
    await stranger.goto(link);
    await stranger.getByText(/lacks its token/).waitFor();
    // Nor can one with the token of an earlier lab at this port, which it forgets.
    await stranger.evaluate(() => localStorage.setItem('mrtr-lab-token', 'of-an-earlier-lab'));
    await stranger.reload();
    await stranger.getByText(/lacks its token/).waitFor();
    assert.equal(await stranger.evaluate(() => localStorage.length), 0);
    const tab = await page.context().newPage();
    await tab.goto(link);
    await tab.getByText('live processes').waitFor();
    await tab.close();
  });

  test('serves an old client over a connection that it holds, and one that cannot be asked', async () => {
    await setUp('a.weather.legacy.one.repeatable', 'b.weather.unaskable.one.repeatable');
    await left.callAndAnswer('imperial');
    await left.tells(/elicitation\/create +"Which units\?".*72°F/);
    await right.call();
    await right.over();
    await right.tells(/22°C/);
    assert.equal(await right.region.locator('.counts').getByText('asked').count(), 0);
  });

  test('opens a transcript from a file, as text, and says what is wrong with another', async () => {
    const choose = async (text: string) => {
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        page.getByRole('button', { name: 'Open a transcript' }).click(),
      ]);
      await chooser.setFiles({ name: 'one.json', mimeType: 'text/json', buffer: Buffer.from(text) });
    };
    const hostile = `</script><script>document.title="owned"</script><img src=x onerror=alert(1)> \u202eowned`;
    // No string can be made of it.
    const textless = { toString: 1, valueOf: null };
    const isSaid = (key: string) => /^(?:title|label|name|detail|text|message|requestState)$/.test(key);
    const script = await readFile(join(browser.folder, 'lab/recorded/b.one.js'), 'utf8');
    const recording = script.slice('mrtrRecorded('.length, -');\n'.length);
    const { transcript } = JSON.parse(recording, (key, value) => {
      if (key === 'type' && value === 'text') return textless;
      return typeof value === 'string' && isSaid(key) ? hostile : value;
    });
    const message = { id: 9, error: { code: textless, message: textless } };
    transcript.events.push({ kind: 'message', at: 0, from: 'i1', to: 'client', message });
    await choose(JSON.stringify(transcript));
    await page.getByRole('heading', { name: '</script><script>' }).waitFor();
    for (const tab of ['Message', 'State', 'World']) await page.getByRole('tab', { name: tab }).click();
    assert.equal(await page.locator('main img, main script').count(), 0);
    assert.notEqual(await page.title(), 'owned');
    for (const [text, complaint] of [
      ['not json', 'not JSON'],
      ['{}', 'no transcript'],
      [JSON.stringify({ ...transcript, version: 2 }), 'version 1'],
      [JSON.stringify({ ...transcript, events: [{ kind: 'effect' }] }), 'Event 1'],
    ] as const) {
      await choose(text);
      await page.getByText(complaint).waitFor();
    }
  });

  test('lesson 2: lose H’s call to a kill, and find two ways to keep it', async () => {
    await begin(2);
    await left.callUntilAsked();
    await left.button(/^kill i1/).click();
    await left.region.locator('.lifeline .dead').waitFor({ state: 'attached' });
    await left.answer('metric');
    await waitForMet('was lost');
    await left.tells(/killed.*server 2.*cannot be resumed/);
    await left.tab('World').click();
    await left.region.locator('.refusal', { hasText: 'cannot be resumed' }).waitFor();
    await left.tab('Source').click();
    await left.button(/^restart i1/).click();
    await left.button(/^kill i1/).waitFor();
    await left.next('goes to', 'i1');
    await left.callAndAnswer('metric');
    await waitForMet('the retry went to the instance that asked');
    await right.select('Shape').selectOption('g');
    await right.over();
    await right.callUntilAsked();
    await right.next('goes to', 'i2');
    await right.answer('metric');
    await waitForSolved();
    await right.tells(/server 2.*Weather in Tokyo/);
  });

  test('lesson 3: use one approval twice, then stop it', async () => {
    await begin(3);
    const approveTwice = async (side: SideOnPage, writes: RegExp) => {
      await side.callUntilAsked();
      await side.next('is delivered', 'twice');
      await side.answer('Fixed');
      await side.tells(/delivered again: tools\/call/);
      await side.counts(/writes?$/, writes);
    };
    await approveTwice(left, /^2/);
    await waitForMet('wrote twice');
    await approveTwice(right, /^1/);
    await waitForSolved();
  });

  test('lesson 4: answer a question that nobody asked', async () => {
    await begin(4);
    for (const side of [left, right]) {
      await side.tick('an unasked answer too');
      await side.call();
    }
    await waitForMet('nobody was asked');
    await right.answer('Fixed');
    await waitForSolved();
  });

  test('lesson 5: change what the state says', async () => {
    await begin(5);
    for (const side of [left, right]) {
      await side.callUntilAsked();
      await side.answer('Duplicate');
      await side.waitForQuestion('Which item is #4522 a duplicate of?');
    }
    await left.tab('State').click();
    const text = left.region.getByLabel('The state, as text');
    await left.button('Cut it').click();
    // What is shown is what goes out.
    await page.waitForFunction(
      () => !document.querySelector<HTMLTextAreaElement>('.left textarea')?.value.includes('}'),
    );
    await left.button('Leave it as it was').click();
    await page.waitForFunction(() =>
      document.querySelector<HTMLTextAreaElement>('.left textarea')?.value.includes('}'),
    );
    await text.fill((await text.inputValue()).replace('Duplicate', 'Fixed'));
    await left.answer('Present this text');
    await right.answer('Flip a bit');
    for (const side of [left, right]) {
      await side.region.getByText('The next retry brings this').waitFor();
      await side.region.getByLabel('original').fill('4301');
      await side.answer('Answer');
    }
    await waitForSolved();
  });

  test('lesson 6: deploys a version while a question is open, and none without one', async () => {
    await begin(6);
    assert.equal(await left.button(/^Deploy/).isDisabled(), true);
    await left.callUntilAsked();
    await left.button(/^Deploy/).click();
    await left.region.getByText('Version 2 runs.').waitFor();
    assert.equal(await left.region.locator('.row.deploy').count(), 1);
    await picture(page, 'deployed');
    await hasNothingSerious(page);
    for (const [answer, question] of [
      ['M', 'What size, please?'],
      ['L', 'Which colour?'],
    ] as const) {
      await left.answer(answer);
      await left.waitForQuestion(question);
    }
    await left.answer('red');
    await waitForMet('asked again');
    await left.tells(/a new version is deployed: reworded.*Ordered: colour red, size L/);
    // A ticket and an order are two entries, and no effect happened twice.
    await left.counts(/audit record/, /^2/);
    assert.equal(await left.region.locator('.counts .bad').count(), 0);
    // Another version, by the keyboard.
    await right.callUntilAsked();
    await right.select('Version 2').selectOption('moved');
    await right.button(/^Deploy/).press('Enter');
    await right.region.getByText('Version 2 runs.').waitFor();
    await right.answer('M');
    await right.tells(/a new version is deployed: moved/);
  });

  test('by the keyboard alone, opens the recordings that prove a cell, steps, plays, zooms, and makes and answers a call', async () => {
    const keys = page.keyboard;
    const focus = () =>
      page.evaluate(() => {
        const { activeElement: on } = document;
        return on?.getAttribute('aria-label') ?? on?.textContent?.trim() ?? '';
      });
    const tabTo = async (text: RegExp) => {
      for (let presses = 0; presses < 200; presses++) {
        await keys.press('Tab');
        if (text.test(await focus())) return;
      }
      assert.fail(`The tab key never came to ${text}.`);
    };
    await page.goto(`${new URL(page.url()).origin}/#/measured`);
    await page.getByRole('link', { name: /^B, How often/ }).waitFor();
    await tabTo(/^B, How often was the audit record written\? twice/);
    await keys.press('Enter');
    const output = page.locator('.timeline output');
    // It opens at its first step.
    assert.match(await output.innerText(), /^1\//);
    await keys.press('End');
    await left.counts(/audit record/, /^2/);
    assert.deepEqual(await left.lines('broken'), [9]);
    await keys.press('Home');
    await keys.press('ArrowRight');
    assert.match(await output.innerText(), /^2\//);
    await keys.press('2');
    assert.equal(await page.getByRole('button', { name: 'Wire' }).getAttribute('aria-pressed'), 'true');
    await keys.press('1');
    await keys.press('End');
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await tabTo(/^Live$/);
    await keys.press('Enter');
    await left.button('Make the call').waitFor();
    await tabTo(/^Make the call$/);
    await keys.press('Enter');
    await left.waitForQuestion();
    await tabTo(/^Cancel$/);
    await keys.press('Enter');
    await left.over();
  });
});

test('no page complained', () => {
  assert.deepEqual(browser.complaints, []);
});
