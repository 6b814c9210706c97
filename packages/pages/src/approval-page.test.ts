import { generateKeyPairSync } from 'node:crypto';
import { ask, isRefusal, type Receipt, readAnswer, textResult, words } from '@mrtr/core';
import { observe } from '@mrtr/core/events';
import { compactVerify } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { type ApprovalPageOptions, type ApprovalQuestionOptions, approvalPage } from './approval-page.ts';
import { MemoryInteractions } from './memory-interactions.ts';
import { hostTool } from './page.test-support.ts';
import { signReceipt, verifyReceipt } from './signed-receipt.ts';

const ORIGIN = 'https://shop.example';
const APPROVED = 'Approved. You can close this page, and go back to where you came from.\n';
const FORMS = { elicitation: {} };
const NOTHING = {};
const ADA = { 'x-user': 'ada' };

/** A tool that pays after a yes on its page. `paid` has the receipts. */
function shopOf(
  over: Partial<ApprovalPageOptions> = {},
  wanted: Partial<ApprovalQuestionOptions> = {},
  text = () => words`Pay ${'Bob <b>'}?`,
) {
  const paid: Receipt[] = [];
  const site = hostTool(async (ctx) => {
    const sure = await page.question(ctx, text(), { approve: 'Pay', refuse: 'Do not pay', ...wanted });
    const answer = readAnswer(ctx, 'sure', sure);
    if (isRefusal(answer)) return textResult('Refused.');
    if (answer.kind !== 'accepted') return ask({ sure });
    paid.push(answer.value.receipt);
    return textResult('Paid.');
  });
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
  /** What a person does: opens the page, and presses a button. */
  const press = async (url: string, decision: string) => post(url, { decision, token: await tokenOf(url) });
  return { ...site, page, paid, get, post, tokenOf, press };
}

type Shop = ReturnType<typeof shopOf>;

const pressThenRetry = async (shop: Shop, decision: string) => {
  const { url, retry } = await asking(shop);
  await shop.press(url, decision);
  return retry();
};

/** A call that asks to open the page, and its retries. */
async function asking({ call }: Shop, capabilities?: object) {
  const { result } = await call({}, 'ada', capabilities);
  const { inputRequests, requestState } = result as never as {
    inputRequests: { sure: { params: { url?: string; message: string; mode: string } } };
    requestState: string;
  };
  const { params } = inputRequests.sure;
  const retry = (action = 'accept') =>
    call({ requestState, inputResponses: { sure: { action } } }, 'ada', capabilities);
  return { params, url: params.url ?? linkIn(params.message), retry };
}

const linkIn = (text: string): string => /https:\S+/.exec(text)?.[0] ?? '';
const textOf = ({ result }: { result?: unknown }) =>
  (result as { content: [{ text: string }] }).content[0].text;
const asksIn = ({ result }: { result?: unknown }) =>
  Object.keys((result as { inputRequests?: object }).inputRequests ?? {});

test('a client that opens URLs is asked to, and what a person pressed there is the answer', async () => {
  const shop = shopOf({}, { details: { Amount: 12, Note: '<script>' } });
  const { params, url, retry } = await asking(shop);
  expect(params).toMatchObject({ mode: 'url', message: 'Pay “Bob <b>”?' });
  expect(asksIn(await retry())).toEqual(['sure']);
  shop.clock.now += 5000;
  const pressed = await shop.press(url, 'approve');
  expect([pressed.status, await pressed.text()]).toEqual([200, APPROVED]);
  shop.clock.now += 5000;
  expect(textOf(await retry())).toBe('Paid.');
  const [receipt] = shop.paid;
  expect(receipt).toMatchObject({ words: 'Pay “Bob <b>”?', rung: 'page', tool: 'link' });
  expect((receipt?.answeredAt ?? 0) - (receipt?.askedAt ?? 0)).toBe(5);
});

test('the page shows the words, the details and the account as text, and the refusal first', async () => {
  const shop = shopOf({}, { details: { Amount: 12, '<i>': '"><script>' } });
  const { url } = await asking(shop);
  const response = await shop.get(url);
  const html = await response.text();
  expect(html).toContain('<blockquote><bdi>Pay “Bob &#60;b&#62;”?</bdi></blockquote>');
  expect(html).toContain('<dt><bdi>Amount</bdi></dt><dd><bdi>12</bdi></dd>');
  expect(html).toContain('<dt><bdi>&#60;i&#62;</bdi></dt><dd><bdi>&#34;&#62;&#60;script&#62;</bdi></dd>');
  expect(html).toContain('ada@shop');
  expect(html.indexOf('Do not pay')).toBeLessThan(html.indexOf('value="approve">Pay<'));
  expect(html).not.toMatch(/<script/);
  expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
});

test('the page shows marks that turn or hide a part of a detail', async () => {
  const shop = shopOf({}, { details: { Account: 'DE\u202e1234\u2069', 'A\u200b': '\u3164\nb' } });
  const html = await (await shop.get((await asking(shop)).url)).text();
  expect(html).toContain(String.raw`<dd><bdi>DE\u{202e}1234\u{2069}</bdi></dd>`);
  expect(html).toContain(String.raw`<dt><bdi>A\u{200b}</bdi></dt><dd><bdi>\u{3164}\u{a}b</bdi></dd>`);
});

test('a refusal on the page ends the call', async () => {
  const shop = shopOf();
  const { url, retry } = await asking(shop);
  await shop.press(url, 'refuse');
  expect(textOf(await retry())).toBe('Refused.');
  expect((await shop.press(url, 'approve')).status).toBe(404);
  expect(shop.paid).toEqual([]);
});

test.each<[string, (shop: Shop, url: string) => Promise<Response>, number]>([
  ['opening it', ({ get }, url) => get(url), 200],
  ['a prefetch', ({ get }, url) => get(url, { ...ADA, 'sec-purpose': 'prefetch' }), 200],
  ['GET with the button in the query', ({ get }, url) => get(`${url}&decision=approve`), 200],
  ['a form without the token', ({ post }, url) => post(url, { decision: 'approve' }), 403],
  [
    'a form with another token',
    ({ post }, url) => post(url, { decision: 'approve', token: 'x'.repeat(22) }),
    403,
  ],
  [
    'a form without a button',
    async ({ post, tokenOf }, url) => post(url, { token: await tokenOf(url) }),
    400,
  ],
  [
    'a form of another site',
    async ({ post, tokenOf }, url) =>
      post(
        url,
        { decision: 'approve', token: await tokenOf(url) },
        { ...ADA, origin: 'https://evil.example' },
      ),
    403,
  ],
  [
    'a form of a subdomain',
    async ({ post, tokenOf }, url) =>
      post(
        url,
        { decision: 'approve', token: await tokenOf(url) },
        { ...ADA, 'sec-fetch-site': 'same-site' },
      ),
    403,
  ],
  [
    'another user',
    async ({ post, tokenOf }, url) =>
      post(url, { decision: 'approve', token: await tokenOf(url) }, { 'x-user': 'eve' }),
    404,
  ],
  ['nobody', ({ post }, url) => post(url, { decision: 'approve' }, {}), 401],
  ['another page', ({ press }, url) => press(`${url}x`, 'approve'), 404],
])('%s approves nothing', async (_what, attack, status) => {
  const shop = shopOf();
  const { url, retry } = await asking(shop);
  expect((await attack(shop, url)).status).toBe(status);
  expect(asksIn(await retry())).toEqual(['sure']);
  expect(shop.paid).toEqual([]);
});

test('of two presses at once one counts', async () => {
  const shop = shopOf();
  const { url, retry } = await asking(shop);
  const token = await shop.tokenOf(url);
  const pressed = await Promise.all([
    shop.post(url, { decision: 'refuse', token }),
    shop.post(url, { decision: 'approve', token }),
  ]);
  expect(pressed.map(({ status }) => status).sort()).toEqual([200, 404]);
  expect(textOf(await retry())).toBe('Refused.');
});

test('a page whose time is over approves nothing', async () => {
  const shop = shopOf({ ttlSeconds: 60 });
  const { url, retry } = await asking(shop);
  const token = await shop.tokenOf(url);
  shop.clock.now += 61_000;
  expect((await shop.post(url, { decision: 'approve', token })).status).toBe(404);
  expect(textOf(await retry())).toContain('not finished in time');
});

test('after a deploy that changed the words, the old page counts no more', async () => {
  let payee = 'Bob';
  const shop = shopOf({}, {}, () => words`Pay ${payee}?`);
  const { url, retry } = await asking(shop);
  await shop.press(url, 'approve');
  payee = 'Eve';
  expect(asksIn(await retry())).toEqual(['sure']);
  expect(shop.paid).toEqual([]);
});

test('a client that shows forms only gets the link in a form, and its accept alone approves nothing', async () => {
  const shop = shopOf();
  const { params, url, retry } = await asking(shop, FORMS);
  expect(params.mode).toBe('form');
  expect(url).toMatch(/^https:\/\/shop\.example\/approve\/start\?id=/);
  expect(asksIn(await retry())).toEqual(['sure']);
  await shop.press(url, 'approve');
  expect(textOf(await retry())).toBe('Paid.');
});

test('a client that cannot be asked is refused, and nothing is kept for it', async () => {
  const { call } = shopOf();
  expect(await call({}, 'ada', NOTHING)).toMatchObject({ error: { code: -32021 } });
});

test('with `by: client`, a form asks, and no page', async () => {
  const shop = shopOf({}, { by: 'client' });
  const { params, retry } = await asking(shop, FORMS);
  expect(params).toMatchObject({ mode: 'form', message: 'Pay “Bob <b>”?' });
  expect(asksIn(await retry())).toEqual(['sure']);
});

const resumable = (over: Partial<ApprovalPageOptions> = {}) => shopOf({ resume: 'same-call', ...over });
const mute = (shop: Shop, params: object = {}, caller = 'ada') => shop.call(params, caller, NOTHING);

test('a client that cannot be asked gets the link, and the same call finds the approval, once', async () => {
  const shop = resumable();
  const first = await mute(shop);
  expect(first.result).toMatchObject({ isError: true });
  const url = linkIn(textOf(first));
  expect(linkIn(textOf(await mute(shop)))).toBe(url);
  await shop.press(url, 'approve');
  expect(textOf(await mute(shop))).toBe('Paid.');
  const again = linkIn(textOf(await mute(shop)));
  expect(again).toMatch(/^https:/);
  expect(again).not.toBe(url);
  expect(shop.paid).toHaveLength(1);
  expect(shop.paid[0]).toMatchObject({ rung: 'page', call: expect.any(String) });
});

test.each<[string, (shop: Shop) => Promise<{ result?: unknown }>]>([
  ['another user', (shop) => mute(shop, {}, 'eve')],
  ['other arguments', (shop) => mute(shop, { arguments: { to: 'eve' } })],
])('an approval does not count for %s', async (_whom, call) => {
  const shop = resumable();
  await shop.press(linkIn(textOf(await mute(shop))), 'approve');
  expect((await call(shop)).result).toMatchObject({ isError: true });
  expect(shop.paid).toEqual([]);
});

test('an approval that waits for its call expires', async () => {
  const shop = resumable({ resumeSeconds: 60 });
  await shop.press(linkIn(textOf(await mute(shop))), 'approve');
  shop.clock.now += 61_000;
  expect((await mute(shop)).result).toMatchObject({ isError: true });
  expect(shop.paid).toEqual([]);
});

test('of two same calls at once after one approval, one pays', async () => {
  const shop = resumable();
  await shop.press(linkIn(textOf(await mute(shop))), 'approve');
  const texts = (await Promise.all([mute(shop), mute(shop), mute(shop)])).map(textOf);
  expect(texts.filter((text) => text === 'Paid.')).toHaveLength(1);
  expect(shop.paid).toHaveLength(1);
});

test('a refusal ends one same call, and the next one asks anew', async () => {
  const shop = resumable();
  const url = linkIn(textOf(await mute(shop)));
  await shop.press(url, 'refuse');
  expect(textOf(await mute(shop))).toBe('The question was declined.');
  expect(linkIn(textOf(await mute(shop)))).not.toBe(url);
});

test('a declined URL was perhaps never shown, so the result holds the link', async () => {
  const shop = resumable();
  const { url, retry } = await asking(shop);
  expect(linkIn(textOf(await retry('decline')))).toBe(url);
  await shop.press(url, 'approve');
  expect(textOf(await mute(shop))).toBe('Paid.');
});

test('an approval that one call took does not answer another, which was asked for the same', async () => {
  const shop = resumable();
  const [one, other] = [await asking(shop), await asking(shop)];
  expect(one.url).toBe(other.url);
  await shop.press(one.url, 'approve');
  expect(textOf(await one.retry())).toBe('Paid.');
  expect(asksIn(await other.retry())).toEqual(['sure']);
  expect(shop.paid).toHaveLength(1);
});

test('the receipt also comes where a client says in its retry that it opens no URLs', async () => {
  const shop = resumable();
  const { result } = await shop.call({});
  const { inputRequests, requestState } = result as never as {
    inputRequests: { sure: { params: { url: string } } };
    requestState: string;
  };
  await shop.press(inputRequests.sure.params.url, 'approve');
  expect(textOf(await mute(shop, { requestState, inputResponses: { sure: { action: 'accept' } } }))).toBe(
    'Paid.',
  );
  expect(shop.paid).toEqual([expect.objectContaining({ rung: 'page' })]);
});

test('the call that was asked finds its approval after the time for others, and no other call does', async () => {
  const shop = resumable();
  const { url, retry } = await asking(shop);
  await shop.press(url, 'approve');
  shop.clock.now += 300_000;
  const other = await asking(shop);
  expect(other.url).not.toBe(url);
  expect(textOf(await retry())).toBe('Paid.');
  expect(asksIn(await other.retry())).toEqual(['sure']);
  expect(shop.paid).toHaveLength(1);
});

test('one approval is not two, where a call asks for the same words twice', async () => {
  let paid = 0;
  const site = hostTool(async (ctx) => {
    for (const key of ['one', 'two']) {
      const sure = await page.question(ctx, words`Pay?`, { approve: 'Pay', refuse: 'Do not pay' });
      if (readAnswer(ctx, key, sure).kind !== 'accepted') return ask({ [key]: sure });
      paid++;
    }
    return textResult('Paid.');
  });
  const { page, press } = shopOf({ policy: site.policy, resume: 'same-call' });
  await press(linkIn(textOf(await site.call({}, 'ada', NOTHING))), 'approve');
  expect(textOf(await site.call({}, 'ada', NOTHING))).toContain('Give each approval a `name`');
  expect(paid).toBe(1);
});

test('no call can be approved without bound', async () => {
  const shop = resumable();
  for (let count = 0; count < 20; count++) {
    await shop.press(linkIn(textOf(await mute(shop))), 'approve');
    expect(textOf(await mute(shop))).toBe('Paid.');
  }
  expect(textOf(await mute(shop))).toContain('approved very often');
});

test('an anonymous caller gets an error that says why', async () => {
  const { call } = resumable();
  expect(textOf(await call({}, '', NOTHING))).toContain('a caller whose identity is known');
});

test.each([undefined, 'same-call'] as const)(
  'a store that fails approves nothing, with resume: %s',
  async (resume) => {
    class Broken extends MemoryInteractions {
      override async find(): Promise<never> {
        throw new Error('The store is gone.');
      }
    }
    const shop = shopOf({ store: new Broken(), ...(resume && { resume }) });
    const replies = [await shop.call({}), await mute(shop)];
    expect(JSON.stringify(replies)).not.toContain('Paid.');
    expect(shop.paid).toEqual([]);
  },
);

test('a store that lost its data approves nothing', async () => {
  const store = new MemoryInteractions();
  let lost = false;
  const forgetful = {
    add: (...args: Parameters<typeof store.add>) => store.add(...args),
    find: async (id: string) => (lost ? undefined : store.find(id)),
    replace: (...args: Parameters<typeof store.replace>) => store.replace(...args),
  };
  const shop = shopOf({ store: forgetful });
  const { url, retry } = await asking(shop);
  await shop.press(url, 'approve');
  lost = true;
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
  const { url, retry } = await asking(shop);
  const sent = await shop.press(url, 'approve');
  expect(sent.status).toBe(303);
  expect(asksIn(await retry())).toEqual(['sure']);
  expect(await (await shop.get(sent.headers.get('location') ?? '')).text()).toBe(APPROVED);
  expect(textOf(await retry())).toBe('Paid.');
  expect(shop.paid[0]).toMatchObject({ rung: 'verified-page' });
});

test('an approval of before `verify` was added does not count as verified', async () => {
  const store = new MemoryInteractions();
  const shop = resumable({ store });
  const { url } = await asking(shop);
  await shop.press(url, 'approve');
  const verifying = resumable({ store, verify: stepUp(true) });
  expect((await mute(verifying)).result).toMatchObject({ isError: true });
  expect(verifying.paid).toEqual([]);
  expect(textOf(await mute(shop))).toBe('Paid.');
});

test('a second proof that does not hold approves nothing', async () => {
  const shop = shopOf({ verify: stepUp(false) });
  const { url, retry } = await asking(shop);
  const sent = await shop.press(url, 'approve');
  expect((await shop.get(sent.headers.get('location') ?? '')).status).toBe(500);
  expect(asksIn(await retry())).toEqual(['sure']);
  expect(shop.errors.at(-1)).toBe('The second proof of an approval did not hold. Nothing was approved.');
});

test('the operator gets one event with the receipt', async () => {
  const events: unknown[] = [];
  onTestFinished(observe('mrtr:approval', (event) => events.push(event)));
  const shop = shopOf();
  const { url, retry } = await asking(shop);
  await shop.press(url, 'approve');
  await retry();
  expect(events).toEqual([
    { outcome: 'approved', call: expect.any(String), target: 'link', receipt: shop.paid[0] },
  ]);
});

test.each<[string, (shop: Shop) => Promise<unknown>, string]>([
  ['refused', async (shop) => pressThenRetry(shop, 'refuse'), 'refused'],
  ['declined', async (shop) => (await asking(shop)).retry('decline'), 'declined'],
  ['cancelled', async (shop) => (await asking(shop)).retry('cancel'), 'cancelled'],
])('the operator learns that it was %s', async (_how, refuse, outcome) => {
  const events: unknown[] = [];
  onTestFinished(observe('mrtr:approval', (event) => events.push(event)));
  await refuse(shopOf());
  expect(events).toEqual([{ outcome, call: expect.any(String), target: 'link' }]);
});

test('a signed receipt is verified with jose alone, and a changed one is rejected', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const shop = shopOf();
  const { url, retry } = await asking(shop);
  await shop.press(url, 'approve');
  await retry();
  const receipt = shop.paid[0] as Receipt;
  const jws = await signReceipt(receipt, privateKey, { alg: 'EdDSA', kid: '1' });
  const { payload, protectedHeader } = await compactVerify(jws, publicKey);
  expect(JSON.parse(new TextDecoder().decode(payload))).toEqual(receipt);
  expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: '1', typ: 'mrtr-receipt+json' });
  expect(await verifyReceipt(jws, publicKey)).toEqual(receipt);
  const [head, body, signature] = jws.split('.') as [string, string, string];
  const forged = Buffer.from(JSON.stringify({ ...receipt, words: 'Pay “Eve”?' })).toString('base64url');
  await expect(verifyReceipt(`${head}.${forged}.${signature}`, publicKey)).rejects.toThrow(/signature/);
  expect(body).not.toBe(forged);
});

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
  ['details that are no texts', { details: { of: {} } }, /details must be texts/],
  ['details that are too long', { details: { of: 'x'.repeat(4000) } }, /at most 3072 bytes/],
  ['another way', { by: 'either' }, /by must be/],
])('rejects a question with %s', async (_what, wanted, message) => {
  expect(textOf(await shopOf({}, wanted as Partial<ApprovalQuestionOptions>).call())).toMatch(message);
});
