import { generateKeyPairSync } from 'node:crypto';
import {
  ask,
  isRefusal,
  type Receipt,
  type RequestStateOptions,
  readAnswer,
  StoreFull,
  sampling,
  textResult,
  words,
} from '@mrtr/core';
import { observe } from '@mrtr/core/events';
import { compactVerify } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type ApprovalPageOptions, type ApprovalQuestionOptions, approvalPage } from './approval-page.ts';
import { MemoryInteractions } from './memory-interactions.ts';
import { failingStore, hostTool, linkIn } from './page.test-support.ts';
import { signReceipt, verifyReceipt } from './signed-receipt.ts';
import type { InteractionStore } from './store.ts';

const ORIGIN = 'https://shop.example';
const APPROVED = 'Approved. You can close this page, and go back to where you came from.\n';
const FORMS = { elicitation: {} };
const NOTHING = {};
const ADA = { 'x-user': 'ada' };

/** A tool that pays after an approval on its page. `paid` collects the receipts. */
function shopOf(
  over: Partial<ApprovalPageOptions> = {},
  wanted: Partial<ApprovalQuestionOptions> = {},
  text = () => words`Pay ${'Bob <b>'}?`,
  options: RequestStateOptions = {},
) {
  const paid: Receipt[] = [];
  const site = hostTool(async (ctx) => {
    const sure = await page.question(ctx, text(), { approve: 'Pay', refuse: 'Do not pay', ...wanted });
    const answer = readAnswer(ctx, 'sure', sure);
    if (isRefusal(answer)) return textResult('Refused.');
    if (answer.kind !== 'accepted') return ask({ sure });
    paid.push(answer.value.receipt);
    return textResult('Paid.');
  }, options);
  const { policy, errors } = site;
  const page = approvalPage({
    policy,
    url: `${ORIGIN}/approve`,
    identifyBrowser: ({ headers }) => {
      const user = headers.get('x-user');
      return user === null ? undefined : { principal: user, account: `${user}@shop` };
    },
    waitSeconds: 0,
    onerror: ({ message }) => errors.push(message),
    ...over,
  });
  const get = (url: string, headers: object = ADA) =>
    page.fetch(new Request(url, { headers: { ...headers } }));
  const post = (url: string, form: Record<string, string>, headers: object = ADA) =>
    page.fetch(
      new Request(url, {
        method: 'POST',
        headers: { origin: ORIGIN, ...headers },
        body: new URLSearchParams(form),
      }),
    );
  const tokenOf = async (url: string) =>
    /name="token" value="([^"]+)"/.exec(await (await get(url)).text())?.[1] ?? '';
  /** Opens the page and presses a button, as a person does. */
  const press = async (url: string, decision: string, headers?: object) =>
    post(url, { decision, token: await tokenOf(url) }, headers);
  return { ...site, page, paid, get, post, tokenOf, press };
}

type Shop = ReturnType<typeof shopOf>;

/** The answer to a retry after a person pressed a button. */
async function pressThenRetry(shop: Shop, decision = 'approve') {
  const { page, retry } = await shop.asking();
  await shop.press(page, decision);
  return retry();
}

const textOf = ({ result }: { result?: unknown }) =>
  (result as { content: [{ text: string }] }).content[0].text;
const asksIn = ({ result }: { result?: unknown }) =>
  Object.keys((result as { inputRequests?: object }).inputRequests ?? {});

test('pressing Approve on the page approves the call', async () => {
  const shop = shopOf({}, { details: { Amount: 12, Note: '<script>' } });
  const { params, page, retry } = await shop.asking();
  expect(params).toMatchObject({ mode: 'url', message: 'Pay “Bob <b>”?' });
  expect(asksIn(await retry())).toEqual(['sure']);
  shop.clock.now += 5000;
  const pressed = await shop.press(page, 'approve');
  expect([pressed.status, await pressed.text()]).toEqual([200, APPROVED]);
  shop.clock.now += 5000;
  expect(textOf(await retry())).toBe('Paid.');
  const [receipt] = shop.paid;
  expect(receipt).toMatchObject({ words: 'Pay “Bob <b>”?', assurance: 'page', tool: 'link' });
  expect((receipt?.answeredAt ?? 0) - (receipt?.askedAt ?? 0)).toBe(5);
});

test('the page shows the words, the details and the account as text, and the refusal first', async () => {
  const hidden = { 'A\u200b': '\u3164\nDE\u202e1234\u2069' };
  const shop = shopOf({}, { details: { Amount: 12, '<i>': '"><script>', ...hidden } });
  const { page } = await shop.asking();
  const response = await shop.get(page);
  const html = await response.text();
  expect(html).toContain('<blockquote><bdi>Pay “Bob &#60;b&#62;”?</bdi></blockquote>');
  expect(html).toContain('<dt><bdi>Amount</bdi></dt><dd><bdi>12</bdi></dd>');
  expect(html).toContain('<dt><bdi>&#60;i&#62;</bdi></dt><dd><bdi>&#34;&#62;&#60;script&#62;</bdi></dd>');
  // The page shows marks that turn or hide a part of a detail.
  expect(html).toContain(
    String.raw`<dt><bdi>A\u{200b}</bdi></dt><dd><bdi>\u{3164}\nDE\u{202e}1234\u{2069}</bdi></dd>`,
  );
  expect(html).toContain('ada@shop');
  expect(html.indexOf('Do not pay')).toBeLessThan(html.indexOf('value="approve">Pay<'));
  expect(html).not.toMatch(/<script/);
  expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
});

test('a refusal on the page ends the call', async () => {
  const shop = shopOf();
  const { page, retry } = await shop.asking();
  await shop.press(page, 'refuse');
  expect(textOf(await retry())).toBe('Refused.');
  expect((await shop.press(page, 'approve')).status).toBe(404);
  expect(shop.paid).toEqual([]);
});

test.each(['decline', 'cancel'])('after a %s of the client, its page approves nothing', async (action) => {
  const shop = shopOf();
  const { page, retry } = await shop.asking();
  const token = await shop.tokenOf(page);
  expect(textOf(await retry(action))).toBe('Refused.');
  expect((await shop.post(page, { decision: 'approve', token })).status).toBe(404);
});

/** Presses with the token of another page that ada has just opened. */
async function pressWithAnotherToken(shop: Shop, page: string) {
  const other = await shop.asking();
  return shop.post(page, { decision: 'approve', token: await shop.tokenOf(other.page) });
}

test.each<[string, (shop: Shop, url: string) => Promise<Response>, number]>([
  ['opening it', ({ get }, url) => get(url), 200],
  ['a prefetch', ({ get }, url) => get(url, { ...ADA, 'sec-purpose': 'prefetch' }), 200],
  ['GET with the button in the query', ({ get }, url) => get(`${url}&decision=approve`), 200],
  ['a form without the token', ({ post }, url) => post(url, { decision: 'approve' }), 403],
  ['a form with the token of another page', (shop, url) => pressWithAnotherToken(shop, url), 403],
  ['a form without a button', ({ press }, url) => press(url, ''), 400],
  ['another user', ({ press }, url) => press(url, 'approve', { 'x-user': 'eve' }), 404],
  ['nobody', ({ post }, url) => post(url, { decision: 'approve' }, {}), 401],
  ['another page', ({ press }, url) => press(`${url}x`, 'approve'), 404],
])('%s approves nothing', async (_what, attack, status) => {
  const shop = shopOf();
  const { page: url, retry } = await shop.asking();
  expect((await attack(shop, url)).status).toBe(status);
  expect(asksIn(await retry())).toEqual(['sure']);
  expect(shop.paid).toEqual([]);
});

test('of two presses at once one counts', async () => {
  const shop = shopOf();
  const { page, retry } = await shop.asking();
  const token = await shop.tokenOf(page);
  const pressed = await Promise.all([
    shop.post(page, { decision: 'refuse', token }),
    shop.post(page, { decision: 'approve', token }),
  ]);
  expect(pressed.map(({ status }) => status).sort()).toEqual([200, 404]);
  expect(textOf(await retry())).toBe('Refused.');
});

test('a page whose time is over approves nothing', async () => {
  const shop = shopOf({ ttlSeconds: 60 });
  const { page, retry } = await shop.asking();
  const token = await shop.tokenOf(page);
  shop.clock.now += 61_000;
  expect((await shop.post(page, { decision: 'approve', token })).status).toBe(404);
  expect(textOf(await retry())).toContain('not finished in time');
});

test('after a deploy that changed the words, the old page counts no more', async () => {
  let payee = 'Bob';
  const shop = shopOf({}, {}, () => words`Pay ${payee}?`);
  const { page, retry } = await shop.asking();
  await shop.press(page, 'approve');
  payee = 'Eve';
  expect(asksIn(await retry())).toEqual(['sure']);
  expect(shop.paid).toEqual([]);
});

test('a client that shows forms only gets the link in a form, and its accept alone approves nothing', async () => {
  const shop = shopOf();
  const { params, page, retry } = await shop.asking(FORMS);
  expect(params).toMatchObject({ mode: 'form' });
  expect(page).toMatch(/^https:\/\/shop\.example\/approve\/start\?id=/);
  expect(asksIn(await retry())).toEqual(['sure']);
  await shop.press(page, 'approve');
  expect(textOf(await retry())).toBe('Paid.');
});

test('a client that cannot be asked is rejected, and nothing is kept for it', async () => {
  const { call } = shopOf();
  expect(await call({}, 'ada', NOTHING)).toMatchObject({ error: { code: -32021 } });
});

test('with `by: client`, a form asks, and no page', async () => {
  const shop = shopOf({}, { by: 'client' });
  const { params, retry } = await shop.asking(FORMS);
  expect(params).toMatchObject({ mode: 'form', message: 'Pay “Bob <b>”?' });
  expect(asksIn(await retry())).toEqual(['sure']);
});

const resumable = (over: Partial<ApprovalPageOptions> = {}) => shopOf({ resume: 'same-call', ...over });
const callUnasked = (shop: Pick<Shop, 'call'>, params: object = {}, caller = 'ada') =>
  shop.call(params, caller, NOTHING);
/** The link in the error for a client that cannot be asked. */
const linkOf = async (shop: Pick<Shop, 'call'>) => linkIn(await callUnasked(shop));

test('a client that cannot be asked gets the link, and the same call finds the approval, once', async () => {
  const shop = resumable();
  const first = await callUnasked(shop);
  expect(first.result).toMatchObject({ isError: true });
  const url = linkIn(first);
  expect(await linkOf(shop)).toBe(url);
  await shop.press(url, 'approve');
  expect(textOf(await callUnasked(shop))).toBe('Paid.');
  const again = await linkOf(shop);
  expect(again).toMatch(/^https:/);
  expect(again).not.toBe(url);
  expect(shop.paid).toHaveLength(1);
  expect(shop.paid[0]).toMatchObject({ assurance: 'page', call: expect.any(String) });
});

test.each<[string, (shop: Shop) => Promise<{ result?: unknown }>]>([
  ['another user', (shop) => callUnasked(shop, {}, 'eve')],
  ['other arguments', (shop) => callUnasked(shop, { arguments: { to: 'eve' } })],
])('an approval does not count for %s', async (_whom, call) => {
  const shop = resumable();
  await shop.press(await linkOf(shop), 'approve');
  expect((await call(shop)).result).toMatchObject({ isError: true });
  expect(shop.paid).toEqual([]);
});

test('an approval does not count for another server with the same keys, store and path', async () => {
  const store = new MemoryInteractions();
  const shop = resumable({ store });
  const bank = shopOf({ resume: 'same-call', store }, {}, undefined, { audience: 'bank' });
  await shop.press(await linkOf(shop), 'approve');
  expect((await callUnasked(bank)).result).toMatchObject({ isError: true });
  expect(bank.paid).toEqual([]);
  expect(textOf(await callUnasked(shop))).toBe('Paid.');
});

test('an approval that waits for its call expires', async () => {
  const shop = resumable();
  await shop.press(await linkOf(shop), 'approve');
  shop.clock.now += 61_000;
  expect((await callUnasked(shop)).result).toMatchObject({ isError: true });
  expect(shop.paid).toEqual([]);
});

test('of two same calls at once after one approval, one pays', async () => {
  const shop = resumable();
  await shop.press(await linkOf(shop), 'approve');
  const texts = (await Promise.all([callUnasked(shop), callUnasked(shop), callUnasked(shop)])).map(textOf);
  expect(texts.filter((text) => text === 'Paid.')).toHaveLength(1);
  expect(shop.paid).toHaveLength(1);
});

test('a refusal ends one same call, and the next one asks anew', async () => {
  const shop = resumable();
  const url = await linkOf(shop);
  await shop.press(url, 'refuse');
  expect(textOf(await callUnasked(shop))).toBe('The question was declined.');
  expect(await linkOf(shop)).not.toBe(url);
});

test('a declined URL was perhaps never shown, so the result holds the link', async () => {
  const shop = resumable();
  const { page, retry } = await shop.asking();
  expect(linkIn(await retry('decline'))).toBe(page);
  await shop.press(page, 'approve');
  expect(textOf(await callUnasked(shop))).toBe('Paid.');
});

test('an approval that one call took does not answer another, which was asked for the same', async () => {
  const shop = resumable();
  const [one, other] = [await shop.asking(), await shop.asking()];
  expect(one.page).toBe(other.page);
  await shop.press(one.page, 'approve');
  expect(textOf(await one.retry())).toBe('Paid.');
  expect(asksIn(await other.retry())).toEqual(['sure']);
  expect(shop.paid).toHaveLength(1);
});

test('the receipt also comes where a client says in its retry that it opens no URLs, and to shapes that keep answers', async () => {
  const read: unknown[] = [];
  const site = hostTool(async (ctx) => {
    const sure = await page.question(ctx, words`Pay?`, { approve: 'Pay', refuse: 'Do not pay' });
    const answer = readAnswer(ctx, 'sure', sure);
    if (answer.kind !== 'accepted') return ask({ sure });
    read.push(answer, sure.read(sure.keep(ctx.mcpReq.inputResponses?.sure)));
    return textResult('Paid.');
  });
  const { page, press } = shopOf({ policy: site.policy, resume: 'same-call' });
  const asked = await site.asking();
  await press(asked.page, 'approve');
  expect(textOf(await asked.retry('accept', NOTHING))).toBe('Paid.');
  const accepted = {
    kind: 'accepted',
    value: { approved: true, receipt: expect.objectContaining({ assurance: 'page' }) },
  };
  expect(read).toEqual([accepted, accepted]);
});

test('the call that was asked finds its approval after the time for others, and no other call does', async () => {
  const shop = resumable();
  const { page, retry } = await shop.asking();
  await shop.press(page, 'approve');
  shop.clock.now += 300_000;
  const other = await shop.asking();
  expect(other.page).not.toBe(page);
  expect(textOf(await retry())).toBe('Paid.');
  expect(asksIn(await other.retry())).toEqual(['sure']);
  expect(shop.paid).toHaveLength(1);
});

/** A tool that pays twice, with the same words under two keys. */
function twoPayments(asksOnce: boolean) {
  let paid = 0;
  const site = hostTool(async (ctx) => {
    const make = () => page.question(ctx, words`Pay?`, { approve: 'Pay', refuse: 'Do not pay' });
    const first = await make();
    for (const key of ['one', 'two']) {
      const sure = asksOnce || key === 'one' ? first : await make();
      if (readAnswer(ctx, key, sure).kind !== 'accepted') return ask({ [key]: sure });
      paid++;
    }
    return textResult('Paid.');
  });
  const { page, press } = shopOf({ policy: site.policy, resume: 'same-call' });
  return { ...site, press, paid: () => paid };
}

describe.each([
  ['one question under two keys', true],
  ['the same words twice', false],
])('of a call that asks %s, one approval answers one', (_how, asksOnce) => {
  test('for a client that cannot be asked', async () => {
    const { call, press, paid } = twoPayments(asksOnce);
    await press(await linkOf({ call }), 'approve');
    expect(textOf(await callUnasked({ call }))).toMatch(/Give each .*`name`/);
    expect(paid()).toBe(1);
  });

  test.each([
    ['that says in its retry that it opens no URLs', NOTHING],
    ['that opens URLs', undefined],
  ])('for a client %s', async (_which, capabilities) => {
    const { call, press, paid } = twoPayments(asksOnce);
    const inputResponses = { one: { action: 'accept' }, two: { action: 'accept' } };
    let { result } = await call();
    await press(linkIn(result), 'approve');
    for (let round = 0; round < 3 && result?.requestState !== undefined; round++) {
      ({ result } = await call({ requestState: result.requestState, inputResponses }, 'ada', capabilities));
    }
    expect(textOf({ result })).toMatch(/Give each .*`name`/);
    expect(paid()).toBe(1);
  });
});

/** A tool that asks for the same words under both `keys`, and asks the client's model something in between. */
function paymentsOver(keys: readonly [string, string], store: InteractionStore = new MemoryInteractions()) {
  const paid: string[] = [];
  const done = sampling({ messages: [{ role: 'user', content: { type: 'text', text: '?' } }], maxTokens: 5 });
  const site = hostTool(async (ctx) => {
    const key = keys[ctx.mcpReq.requestState() === undefined ? 0 : 1];
    const sure = await page.question(ctx, words`Pay?`, { approve: 'Pay', refuse: 'Do not pay' });
    if (readAnswer(ctx, key, sure).kind !== 'accepted') return ask({ [key]: sure });
    paid.push(key);
    return ctx.mcpReq.requestState() === undefined ? ask({ done }, { state: 'paid' }) : textResult('Done.');
  });
  const { page, press } = shopOf({ policy: site.policy, resume: 'same-call', store });
  const play = async () => {
    const samples = { sampling: {} };
    await press(linkIn(await site.call({}, 'ada', samples)), 'approve');
    const { result } = await site.call({}, 'ada', samples);
    const answer = { role: 'assistant', content: { type: 'text', text: '!' }, model: 'm' };
    return site.call(
      { requestState: result?.requestState, inputResponses: { done: answer } },
      'ada',
      samples,
    );
  };
  return { play, paid };
}

test('a client that samples, and cannot be asked, has one approval for one key in all its rounds', async () => {
  const other = paymentsOver(['one', 'two']);
  expect(textOf(await other.play())).toMatch(/Give each .*`name`/);
  expect(other.paid).toEqual(['one']);
  const same = paymentsOver(['one', 'one']);
  expect(textOf(await same.play())).toBe('Done.');
});

test('an approval whose reader could not be recorded is not read in a later round', async () => {
  // After the press, and the call that takes it.
  const shop = paymentsOver(['one', 'one'], failingStore('replace', 3));
  expect(textOf(await shop.play())).toContain('This approval was used.');
  expect(shop.paid).toEqual(['one']);
});

test('two approvals of one call, with other details and in the same second, have two receipts', async () => {
  const ids = new Set<string>();
  const site = hostTool(async (ctx) => {
    for (const sum of [5, 10]) {
      const labels = { approve: 'Pay', refuse: 'Do not pay', details: { sum } };
      const sure = await page.question(ctx, words`Pay?`, labels);
      const answer = readAnswer(ctx, `${sum}`, sure);
      if (answer.kind !== 'accepted') return ask({ [sum]: sure });
      ids.add(answer.value.receipt.id);
    }
    return textResult('Paid.');
  });
  const { page, press } = shopOf({ policy: site.policy, resume: 'same-call' });
  // The call that receives the second link has used the first approval.
  for (let count = 0; count < 3; count++) await press(await linkOf(site), 'approve');
  ids.clear();
  expect(textOf(await callUnasked(site))).toBe('Paid.');
  expect(ids.size).toBe(2);
});

test('no call can be approved without bound', async () => {
  const shop = resumable();
  for (let count = 0; count < 20; count++) {
    await shop.press(await linkOf(shop), 'approve');
    expect(textOf(await callUnasked(shop))).toBe('Paid.');
  }
  expect(textOf(await callUnasked(shop))).toContain('approved very often');
});

test('an anonymous caller gets an error that says why', async () => {
  const { call } = resumable();
  expect(textOf(await call({}, '', NOTHING))).toContain('a caller whose identity is known');
});

const GONE = new Error('connect ECONNREFUSED 10.0.0.7:6379');
const FULL = new StoreFull('This server has too many pages open. Finish one, or try again later.');
const UNREACHABLE = 'The pages of this server cannot be reached now. Try again later.';

describe.each([
  ['gone', GONE, UNREACHABLE],
  ['full', FULL, FULL.message],
])('a store that is %s', (_how, error, message) => {
  test.each<['add' | 'find' | 'replace', number, 'same-call' | undefined]>([
    ['add', 1, undefined],
    ['add', 1, 'same-call'],
    ['find', 1, 'same-call'],
    ['find', 3, undefined],
    ['find', 4, 'same-call'],
    ['replace', 2, undefined],
    ['replace', 2, 'same-call'],
  ])(
    'at %s %i approves nothing, and the client gets a plain message; resume: %s',
    async (method, at, resume) => {
      const shop = shopOf({ store: failingStore(method, at, error), ...(resume && { resume }) });
      const call = () => (resume ? callUnasked(shop) : shop.call());
      let { result } = await call();
      const page = linkIn(result);
      if (page !== '') {
        await shop.press(page, 'approve');
        const inputResponses = { sure: { action: 'accept' } };
        ({ result } = resume
          ? await callUnasked(shop)
          : await shop.call({ requestState: result?.requestState, inputResponses }));
      }
      expect(textOf({ result })).toBe(message);
      expect(shop.paid).toEqual([]);
      expect(shop.errors).toEqual(error === GONE ? [GONE.message] : []);
    },
  );

  test('when the button is pressed approves nothing, and the browser gets a plain message', async () => {
    const shop = shopOf({ store: failingStore('replace', 1, error) });
    const { page, retry } = await shop.asking();
    const pressed = await shop.press(page, 'approve');
    expect([pressed.status, await pressed.text()]).toEqual([
      500,
      'Something went wrong here. Open the link again.\n',
    ]);
    expect(shop.errors).toEqual([error.message]);
    expect(asksIn(await retry())).toEqual(['sure']);
    expect(shop.paid).toEqual([]);
  });
});

test('a store that lost its data approves nothing', async () => {
  let now = 0;
  const shop = shopOf({ store: new MemoryInteractions({ now: () => now }) });
  const { page, retry } = await shop.asking();
  await shop.press(page, 'approve');
  now = Number.MAX_SAFE_INTEGER;
  expect(textOf(await retry())).toContain('not finished in time');
  expect(shop.paid).toEqual([]);
});

const stepUp = (holds: boolean) => ({
  start: ({ callbackUrl, state }: { callbackUrl: URL; state: string }) =>
    `${callbackUrl}?state=${state}&code=c`,
  finish: () => holds,
});

test('a second proof is asked for after the button, and the receipt says so', async () => {
  const shop = shopOf({ verify: stepUp(true) });
  const { page, retry } = await shop.asking();
  const sent = await shop.press(page, 'approve');
  expect(sent.status).toBe(303);
  expect(asksIn(await retry())).toEqual(['sure']);
  expect(await (await shop.get(sent.headers.get('location') ?? '')).text()).toBe(APPROVED);
  expect(textOf(await retry())).toBe('Paid.');
  expect(shop.paid[0]).toMatchObject({ assurance: 'verified-page' });
});

test('an approval of before `verify` was added does not count as verified', async () => {
  const store = new MemoryInteractions();
  const shop = resumable({ store });
  const { page } = await shop.asking();
  await shop.press(page, 'approve');
  const verifying = resumable({ store, verify: stepUp(true) });
  expect((await callUnasked(verifying)).result).toMatchObject({ isError: true });
  expect(verifying.paid).toEqual([]);
  expect(textOf(await callUnasked(shop))).toBe('Paid.');
});

test('a second proof that does not hold approves nothing', async () => {
  const shop = shopOf({ verify: stepUp(false) });
  const { page, retry } = await shop.asking();
  const sent = await shop.press(page, 'approve');
  expect((await shop.get(sent.headers.get('location') ?? '')).status).toBe(500);
  expect(asksIn(await retry())).toEqual(['sure']);
  expect(shop.errors.at(-1)).toBe('The second proof of an approval did not hold. Nothing was approved.');
});

test.each<[string, (shop: Shop) => Promise<unknown>]>([
  ['approved', (shop) => pressThenRetry(shop)],
  ['refused', (shop) => pressThenRetry(shop, 'refuse')],
  ['declined', async (shop) => (await shop.asking()).retry('decline')],
  ['cancelled', async (shop) => (await shop.asking()).retry('cancel')],
])('the operator gets one event that it was %s, with the receipt if there is one', async (outcome, end) => {
  const events: unknown[] = [];
  onTestFinished(observe('mrtr:approval', (event) => events.push(event)));
  const shop = shopOf();
  await end(shop);
  const receipt = outcome === 'approved' && { receipt: shop.paid[0] };
  expect(events).toEqual([{ outcome, call: expect.any(String), target: 'link', ...receipt }]);
});

test.each([
  ['EdDSA', generateKeyPairSync('ed25519')],
  ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
])(
  'a receipt signed with %s is verified with jose alone, and a changed one is rejected',
  async (alg, { publicKey, privateKey }) => {
    const shop = shopOf();
    const { page, retry } = await shop.asking();
    await shop.press(page, 'approve');
    await retry();
    const receipt = shop.paid[0] as Receipt;
    const jws = await signReceipt(receipt, privateKey, { alg, kid: '1' });
    const { payload, protectedHeader } = await compactVerify(jws, publicKey);
    expect(JSON.parse(new TextDecoder().decode(payload))).toEqual(receipt);
    expect(protectedHeader).toEqual({ alg, kid: '1', typ: 'mrtr-receipt+json' });
    expect(await verifyReceipt(jws, publicKey)).toEqual(receipt);
    const [head, body, signature] = jws.split('.') as [string, string, string];
    const forged = Buffer.from(JSON.stringify({ ...receipt, words: 'Pay “Eve”?' })).toString('base64url');
    await expect(verifyReceipt(`${head}.${forged}.${signature}`, publicKey)).rejects.toThrow(/signature/);
    expect(body).not.toBe(forged);
  },
);

test('a shared secret signs no receipt, and a JWS of other content is none', async () => {
  const secret = new Uint8Array(32);
  await expect(signReceipt({} as Receipt, secret, { alg: 'HS256' })).rejects.toThrow(/asymmetric/);
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const jws = await signReceipt({ foo: 1 } as never, privateKey, { alg: 'EdDSA' });
  await expect(verifyReceipt(jws, publicKey)).rejects.toThrow(/lacks one of its fields/);
});

test.each<[string, object, RegExp]>([
  ['no identifyBrowser', { identifyBrowser: undefined }, /identifyBrowser must be a function/],
  ['another resume', { resume: 'any-call' }, /resume must be/],
  ['a step-up without its functions', { verify: {} }, /verify must be/],
])('rejects a page with %s', (_what, over, message) => {
  expect(() => shopOf(over as Partial<ApprovalPageOptions>)).toThrow(message);
});

test.each<[string, object, RegExp]>([
  ['an empty label', { approve: '' }, /approve must be a text/],
  ['the same label twice', { refuse: 'pay' }, /are both 'Pay'/],
  ['details that are no texts', { details: { of: {} } }, /details must be a plain object of texts/],
  ['details in a Map', { details: new Map([['of', 1]]) }, /details must be a plain object/],
  ['a detail by a symbol', { details: { [Symbol('of')]: 1 } }, /details must be a plain object/],
  ['a detail without a name', { details: { ' ': 1 } }, /details must be a plain object/],
  ['a detail that is no number', { details: { of: Number.NaN } }, /details must be a plain object/],
  ['details that are too long', { details: { of: 'x'.repeat(4000) } }, /at most 3072 bytes/],
  ['another way', { by: 'either' }, /by must be/],
])('rejects a question with %s', async (_what, wanted, message) => {
  expect(textOf(await shopOf({}, wanted as Partial<ApprovalQuestionOptions>).call())).toMatch(message);
});
