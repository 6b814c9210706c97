import { ask, canAsk, readAnswer, textResult, urlElicitation } from '@mrtr/core';
import { callOf } from '@mrtr/core/shape';
import type { Posted } from '@mrtr/harness';
import { Deferred } from '@mrtr/harness/internal';
import { expect, onTestFinished, test, vi } from 'vitest';
import { MemoryInteractions } from './memory-interactions.ts';
import { GO_ON, hookedStore, hostTool, hostWithPage, linkIn, SIGNED_IN } from './page.test-support.ts';
import type { CallbackVisit, StartVisit } from './page.ts';
import type { WaitingContext } from './page-questions.ts';

const REJECTED =
  'This link does not work, or has expired. Go back to where you got it and ask for a new one.\n';
const FINISHED = 'Done. You can close this page, and go back to where you came from.\n';

/** The callback's address for ada's browser. */
const sentBack = async ({ open }: Pick<ReturnType<typeof hostWithPage>, 'open'>, page: string) =>
  (await open(page, GO_ON)).headers.get('location') as string;

const stateIn = (back: string) => new URL(back).searchParams.get('state') as string;

/** `asked` if a retry asks again; otherwise whether it is an error. */
const outcome = ({ result }: Posted) => ('inputRequests' in (result ?? {}) ? 'asked' : result?.isError);

test('a browser of another user, or of nobody, gets no further at the start nor at the callback', async () => {
  const shop = hostWithPage();
  const { page, retry } = await shop.asking();
  const back = await sentBack(shop, page);
  for (const url of [page, back]) {
    const theirs = await shop.open(url, { headers: { 'x-user': 'eve' } });
    expect([theirs.status, await theirs.text()]).toEqual([404, REJECTED]);
    const nobodys = await shop.open(url, {});
    expect([nobodys.status, await nobodys.text()]).toEqual([
      401,
      'Sign in to this site first, and open the link again.\n',
    ]);
  }
  expect(shop.errors).toEqual(
    ['start', 'callback'].map(
      (name) => `The ${name} page of a pending interaction was rejected: it belongs to another user.`,
    ),
  );
  expect(outcome(await retry())).toBe('asked');
  expect((await shop.open(back)).status).toBe(200);
  expect((await retry()).result).toMatchObject({ content: [{ text: 'linked' }] });
});

test('ids and states that are guessed, are of an earlier start or of another page open nothing', async () => {
  const shop = hostWithPage();
  const [one, other] = [await shop.asking(), await shop.asking()];
  const old = stateIn(await sentBack(shop, one.page));
  const back = await sentBack(shop, one.page);
  const [state, id] = [stateIn(back), new URL(one.page).searchParams.get('id') as string];
  const [ref, nonce] = state.split('.') as [string, string];
  const [otherRef] = stateIn(await sentBack(shop, other.page)).split('.');
  const parts = ['', '.', ref, `${ref}.`, `.${nonce}`, `${ref}.undefined`];
  for (const guess of [...parts, state.slice(0, -1), `${state}A`, old, `${otherRef}.${nonce}`])
    expect((await shop.open(back.replace(state, guess))).status, guess).toBe(404);
  for (const guess of ['', 'x', id.slice(1), `${id}A`, 'A'.repeat(22), ref, '__proto__', '%00'])
    expect((await shop.open(one.page.replace(id, guess))).status, guess).toBe(404);
  expect((await shop.open(back)).status).toBe(200);
});

test('a client cannot make up that the page is finished', async () => {
  const shop = hostWithPage();
  const { requestState } = (await shop.call()).result as { requestState: string };
  for (const content of [undefined, {}, { done: '' }, { done: 'e30' }, { done: requestState }]) {
    const inputResponses = { link: { action: 'accept', content } };
    expect(outcome(await shop.call({ requestState, inputResponses }))).toBe('asked');
  }
});

test('a user who says no at the other site has declined; any other error there is for `finish`', async () => {
  const shop = hostWithPage({ finish: ({ query }) => query.get('error') ?? '' });
  for (const [error, text] of [
    ['access_denied', 'declined'],
    ['server_error', 'server_error'],
  ]) {
    const { page, retry } = await shop.asking();
    await shop.open(`${await sentBack(shop, page)}&error=${error}`);
    expect((await retry()).result).toMatchObject({ content: [{ text }] });
  }
});

test('what came of a page counts in later rounds, also when the store has forgotten it', async () => {
  let kept: unknown;
  const site = hostTool(async (ctx) => {
    const question = await link.question(ctx, 'Link it.');
    const answer = kept ? question.read(kept) : readAnswer(ctx, 'link', question);
    if (answer.kind !== 'accepted') return ask({ link: question });
    if (kept) return textResult(answer.value);
    kept = question.keep(ctx.mcpReq.inputResponses?.link);
    return ask({ terms: urlElicitation('Read them.', 'https://shop.example') });
  });
  const link = site.pageAt('/link', { ttlSeconds: 60 });
  const { page, retry } = await site.asking();
  await link.fetch(
    new Request(await sentBack({ open: (url, init) => link.fetch(new Request(url, init)) }, page), SIGNED_IN),
  );
  const { requestState } = (await retry()).result as { requestState: string };
  site.clock.now += 61_000;
  expect((await site.call({ requestState })).result).toMatchObject({ content: [{ text: 'linked' }] });
});

/** A handler waits for two pages. Its user calls `visit` with each link, and then accepts. */
function hostWaiting(visit: (page: string) => unknown, over: Parameters<typeof hostWithPage>[0] = {}) {
  const call = new AbortController();
  const asked: string[] = [];
  const site = hostTool(async (ctx) => {
    const waiting: WaitingContext = {
      pseudonym: callOf(ctx).pseudonym,
      signal: call.signal,
      canAsk: () => canAsk(ctx, 'elicitation.url'),
      once: (_key, effect) => effect(),
      ask: async (key, question) => {
        call.signal.throwIfAborted();
        asked.push(`${key}: ${(question.request.params as { message: string }).message}`);
        await visit(linkIn(question.request));
        return (question.read({ action: 'accept' }) as unknown as { value: never }).value;
      },
    };
    const one = await link.ask(waiting, 'link', 'Link it.', { fallback: 'none' });
    return textResult(`${one}, ${await link.ask(waiting, 'other', 'Link another.', { fallback: 'none' })}`);
  });
  const link = site.pageAt('/link', { finish: () => `linked ${asked.length}`, ...over });
  const open = (url: string, init: RequestInit = SIGNED_IN) => link.fetch(new Request(url, init));
  return { ...site, asked, open, cancel: () => call.abort() };
}

test('a handler that waits sends its user to two pages, and a client that opens none gets the fallback', async () => {
  const shop = hostWaiting(async (page) => shop.open(await sentBack(shop, page)));
  expect((await shop.call()).result).toMatchObject({ content: [{ text: 'linked 1, linked 2' }] });
  expect(shop.asked).toEqual(['link: Link it.', 'other: Link another.']);
  const formsOnly = await shop.call({}, 'ada', { elicitation: { form: {} } });
  expect(formsOnly.result).toMatchObject({ content: [{ text: 'none, none' }] });
});

test('a handler that waits ends when its user says no there, or does not finish', async () => {
  const refused = hostWaiting(async (page) =>
    refused.open(`${await sentBack(refused, page)}&error=access_denied`),
  );
  expect((await refused.call()).result).toMatchObject({
    content: [{ text: "The question 'link' was declined." }],
  });
  const forgotten = hostWaiting(() => {}, { maxAsks: 2 });
  expect((await forgotten.call()).result).toMatchObject({
    content: [{ text: 'The page was not finished in time. Call again to get another one.' }],
  });
  expect(forgotten.asked).toEqual([
    'link: Link it.',
    expect.stringMatching(/^link: The page is not finished/),
  ]);
});

test('the page of a waiting handler whose call was cancelled cannot be finished any more', async () => {
  let [page, back] = ['', ''];
  const shop = hostWaiting(async (url) => {
    [page, back] = [url, await sentBack(shop, url)];
    shop.cancel();
  });
  await shop.call();
  for (const url of [page, back]) expect((await shop.open(url)).status).toBe(404);
});

test('of two callbacks at the same moment one finishes, and the work is done once', async () => {
  let runs = 0;
  const shop = hostWithPage({ finish: async () => `linked ${++runs}` });
  const { page, retry } = await shop.asking();
  const back = await sentBack(shop, page);
  const responses = await Promise.all([1, 2, 3].map(() => shop.open(back)));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
  expect((await retry()).result).toMatchObject({ content: [{ text: 'linked 1' }] });
  expect(runs).toBe(1);
});

test('of two starts at the same moment one counts', async () => {
  const shop = hostWithPage();
  const { page } = await shop.asking();
  const responses = await Promise.all([shop.open(page, GO_ON), shop.open(page, GO_ON)]);
  expect(responses.map(({ status }) => status).sort()).toEqual([303, 404]);
});

test('a page that a browser opens while its call gives it up is closed all the same', async () => {
  let opens: (() => Promise<unknown>) | undefined;
  // The browser opens the start page each time between the call's read of the record and its write.
  const store = hookedStore((method) => {
    const first = method === 'replace' ? opens : undefined;
    if (first) opens = undefined;
    return first?.();
  });
  const shop = hostWithPage({ store });
  const { page, retry } = await shop.asking();
  let back = '';
  opens = async () => {
    back = await sentBack(shop, page);
  };
  expect((await retry('decline')).result).not.toHaveProperty('isError');
  expect(back).toContain('state=');
  expect((await shop.open(back)).status).toBe(404);
});

test('a caller without a principal gets an error that says why: nobody could come to the page', async () => {
  expect((await hostWithPage().call({}, '')).result).toMatchObject({
    isError: true,
    content: [{ text: 'This needs a caller whose identity is known: the page belongs to one user.' }],
  });
});

test('pages are opened, the start page is left by its button, and nothing else is done with them', async () => {
  const shop = hostWithPage();
  const { page } = await shop.asking();
  const back = await sentBack(shop, page);
  for (const method of ['HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
    expect((await shop.open(page, { ...GO_ON, method })).status).toBe(405);
  }
  expect((await shop.open(back, GO_ON)).status).toBe(405);
  for (const url of [
    'https://shop.example/link',
    'https://shop.example/link/',
    'https://shop.example/link/other',
  ]) {
    expect((await shop.open(url)).status).toBe(404);
  }
  expect((await shop.open(page)).status).toBe(200);
});

test('no page can be framed, is kept, or tells the next page its address', async () => {
  const shop = hostWithPage();
  const { page } = await shop.asking();
  const back = await sentBack(shop, page);
  for (const url of [page, back, back]) {
    const { headers } = await shop.open(url);
    const policy = headers.get('content-security-policy')?.split('; ');
    expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'"]));
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toMatch(url === page ? /^same-origin$/ : /^no-referrer$/);
    expect(headers.get('content-type')).toMatch(url === page ? /^text\/html/ : /^text\/plain/);
  }
});

test('what the author’s functions throw stays on the server, and the user may begin again', async () => {
  let down = true;
  const fails = () => {
    if (down) throw new Error('db-7.internal is down');
    return 'linked';
  };
  const shop = hostWithPage({ finish: fails });
  const { page, retry } = await shop.asking();
  const failed = await shop.open(await sentBack(shop, page));
  expect([failed.status, await failed.text()]).toEqual([
    500,
    'Something went wrong here. Open the link again.\n',
  ]);
  expect(shop.errors).toEqual(['db-7.internal is down']);
  down = false;
  expect(await (await shop.open(await sentBack(shop, page))).text()).toBe(FINISHED);
  expect((await retry()).result).toMatchObject({ content: [{ text: 'linked' }] });

  const lost = hostWithPage({ identifyBrowser: fails, start: fails });
  down = true;
  expect((await lost.open('https://shop.example/link/start?id=x')).status).toBe(500);
});

test('a browser is never sent to what is no page', async () => {
  const shop = hostWithPage({ start: () => 'javascript:alert(1)' });
  const { page } = await shop.asking();
  const response = await shop.open(page, GO_ON);
  expect([response.status, response.headers.get('location')]).toEqual([500, null]);
});

test('who reads the store finds neither the id of a page, nor a state, nor a user', async () => {
  const seen: string[] = [];
  const store = hookedStore((method, args) => {
    if (method !== 'find') seen.push(JSON.stringify(args));
  });
  const shop = hostWithPage({ store });
  const { page } = await shop.asking();
  const back = await sentBack(shop, page);
  await shop.open(back);
  const nonce = new URL(back).searchParams.get('state')?.split('.')[1] as string;
  const stored = seen.join('\n');
  expect(seen).toHaveLength(4);
  for (const secret of [new URL(page).searchParams.get('id') as string, nonce, 'linked'])
    expect(stored).not.toContain(secret);
  // As a word: sealed text may have these three letters by chance.
  expect(stored).not.toMatch(/\bada\b/);
});

test('a call may wait for its page until its time is over, and ends then', async () => {
  let now = Date.now();
  const store = new MemoryInteractions({ now: () => now });
  const host = hostWithPage({ store, ttlSeconds: 60 }, { now: () => now });
  const { retry } = await host.asking();
  now += 59_999;
  expect(outcome(await retry())).toBe('asked');
  now += 1;
  expect(outcome(await retry())).toBe(true);
});

test('a retry waits for the page as long as it may, and then the question goes out again', async () => {
  const { retry } = await hostWithPage({ waitSeconds: 3 }).asking();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const over = vi.fn();
  const asked = retry().finally(over);
  await vi.advanceTimersByTimeAsync(2999);
  expect(over).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(outcome(await asked)).toBe('asked');
});

test('a call sends its user to the page as often as it may, and ends then', async () => {
  const { call } = hostWithPage({ maxAsks: 3 });
  let { result } = await call();
  const inputResponses = { link: { action: 'accept' } };
  const retry = async () => ({ result } = await call({ requestState: result?.requestState, inputResponses }));
  expect([outcome(await retry()), outcome(await retry()), outcome(await retry())]).toEqual([
    'asked',
    'asked',
    true,
  ]);
});

test('an address without a protocol is no page', () => {
  expect(() => hostWithPage({ url: 'shop.example' })).toThrow('A page needs a whole address');
});

test('a page does not answer for another on the same store: not at its start, its callback or its answer', async () => {
  const store = new MemoryInteractions();
  const done: string[] = [];
  const site = hostTool(async (ctx) => {
    const question = await pay.question(ctx, 'Pay it.');
    const answer = readAnswer(ctx, 'link', question);
    return answer.kind === 'accepted' ? textResult(answer.value) : ask({ link: question });
  });
  const finish = (what: string) => () => String(done.push(what));
  const link = site.pageAt('/link', { store, finish: finish('linked') });
  const pay = site.pageAt('/pay', { store, finish: finish('paid') });
  const open = (url: string, init: RequestInit = SIGNED_IN) =>
    (new URL(url).pathname.startsWith('/pay') ? pay : link).fetch(new Request(url, init));
  const { page, retry } = await site.asking();
  const atLink = page.replace('/pay/', '/link/');
  for (const init of [SIGNED_IN, GO_ON]) expect((await open(atLink, init)).status).toBe(404);
  const back = await sentBack({ open }, page);
  expect((await open(back.replace('/pay/', '/link/'), SIGNED_IN)).status).toBe(404);
  expect(done).toEqual([]);
  expect((await retry()).result).toMatchObject({ resultType: 'input_required' });
  expect((await open(back, SIGNED_IN)).status).toBe(200);
  expect(done).toEqual(['paid']);
});

test('two pages of one call, in the same words, are two pages', async () => {
  const ids = new Set<string | null>();
  const site = hostTool(async (ctx) => {
    for (const page of [link, pay]) {
      const { request } = await page.question(ctx, 'Go there.');
      ids.add(new URL((request.params as { url: string }).url).searchParams.get('id'));
    }
    return textResult('');
  });
  const [link, pay] = [site.pageAt('/link'), site.pageAt('/pay')];
  await site.call();
  expect(ids.size).toBe(2);
});

test('a page that was finished for one sum does not count for another, nor for other words', async () => {
  let [words, sum] = ['Pay it.', 5];
  const shown: unknown[] = [];
  const over = {
    start: ({ data, state, callbackUrl }: StartVisit) => {
      shown.push(data);
      return `${callbackUrl}?state=${state}`;
    },
    finish: ({ data }: CallbackVisit) => `paid ${JSON.stringify(data)}`,
  };
  const shop = hostWithPage(over, {}, () => [words, { sum }]);
  const { page, retry } = await shop.asking();
  await shop.open(await sentBack(shop, page));
  sum = 500;
  expect((await retry()).result).toMatchObject({ resultType: 'input_required' });
  [words, sum] = ['Pay it twice.', 5];
  expect((await retry()).result).toMatchObject({ resultType: 'input_required' });
  words = 'Pay it.';
  expect((await retry()).result).toMatchObject({ content: [{ text: 'paid {"sum":5}' }] });
  expect(shown).toEqual([{ sum: 5 }]);
});

test('pages that were declined, finished or refused there leave room for others', async () => {
  const shop = hostWithPage({
    store: new MemoryInteractions({ limits: { entries: 10, perPrincipal: 0.1 } }),
  });
  type Asked = Awaited<ReturnType<typeof shop.asking>>;
  const ends: ((asked: Asked) => Promise<unknown>)[] = [
    ({ retry }) => retry('decline'),
    async ({ page }) => shop.open(await sentBack(shop, page)),
    async ({ page }) => shop.open(`${await sentBack(shop, page)}&error=access_denied`),
  ];
  for (const end of ends) {
    const asked = await shop.asking();
    expect((await shop.call()).result).toMatchObject({
      content: [{ text: 'You have too many pages open. Finish one, or try again later.' }],
    });
    await end(asked);
  }
  await shop.asking();
});

test('a store has room for so many pages of all users', async () => {
  const shop = hostWithPage({ store: new MemoryInteractions({ limits: { entries: 1 } }) });
  await shop.asking();
  expect((await shop.call({}, 'eve')).result).toMatchObject({
    content: [{ text: 'This server has too many pages open. Finish one, or try again later.' }],
  });
});

test('a page that was finished in time counts as long as the call’s state does', async () => {
  let finish = () => 'linked';
  const shop = hostWithPage({ ttlSeconds: 600, finish: () => finish() });
  const [one, slow] = [await shop.asking(), await shop.asking()];
  shop.clock.now += 599_000;
  await shop.open(await sentBack(shop, one.page));
  finish = () => {
    shop.clock.now += 60_000;
    return 'linked late';
  };
  expect((await shop.open(await sentBack(shop, slow.page))).status).toBe(200);
  shop.clock.now = 1_800_000_000_000 + 3_599_000;
  expect((await one.retry()).result).toMatchObject({ content: [{ text: 'linked' }] });
  expect((await slow.retry()).result).toMatchObject({ content: [{ text: 'linked late' }] });
});

test.each([
  ['without a word of where it comes from', {}],
  ['of another site', { origin: 'https://evil.example' }],
  ['of a page without a name', { origin: 'null' }],
  ['of another site, by what the browser says', { 'sec-fetch-site': 'cross-site' }],
  ['of a neighbour', { 'sec-fetch-site': 'same-site', origin: 'https://shop.example' }],
])('a post %s does not go on', async (_what, headers) => {
  const shop = hostWithPage();
  const { page } = await shop.asking();
  const sent = await shop.open(page, { method: 'POST', headers: { ...SIGNED_IN.headers, ...headers } });
  expect([sent.status, sent.headers.get('location')]).toEqual([403, null]);
});

test('a post of the page’s own goes on, as browsers send it', async () => {
  const shop = hostWithPage();
  const { page } = await shop.asking();
  const own = { ...SIGNED_IN.headers, 'sec-fetch-site': 'same-origin' };
  for (const headers of [own, { ...own, origin: 'https://shop.example' }])
    expect((await shop.open(page, { method: 'POST', headers })).status).toBe(303);
});

test('the start page names the account and the question, as text', async () => {
  const shop = hostWithPage({
    identifyBrowser: ({ headers }) => ({
      principal: headers.get('x-user') ?? '',
      account: '<b>ada</b> & "co"\u202e',
    }),
  });
  const { page } = await shop.asking();
  const html = await (await shop.open(page)).text();
  expect(html).toContain(
    String.raw`signed in as <strong><bdi>&#60;b&#62;ada&#60;/b&#62; &#38; &#34;co&#34;\u{202e}</bdi></strong>`,
  );
  expect(html).toContain(
    String.raw`<button>Continue as &#60;b&#62;ada&#60;/b&#62; &#38; &#34;co&#34;\u{202e}</button>`,
  );
  expect(html).toContain('<bdi>Link it.</bdi>');
});

test.each([
  ['the store fails once', 'linked', /^the store is gone$/],
  ['its value is too large', 'x'.repeat(8192), /^An interaction would hold \d+ bytes; 8192 are allowed\.$/],
])('a finish that succeeded does not run again when %s', async (_what, value, why) => {
  let finished = 0;
  const store = hookedStore((_method, [, , isOver]) => {
    const isEnd = isOver && finished === 1;
    if (isEnd && value === 'linked') throw new Error('the store is gone');
  });
  const finish = () => {
    finished++;
    return value;
  };
  const shop = hostWithPage({ store, finish });
  const { page } = await shop.asking();
  const back = await sentBack(shop, page);
  const failed = await shop.open(back);
  expect([failed.status, await failed.text()]).toEqual([500, expect.stringContaining('Do not do it again')]);
  expect((await shop.open(page, GO_ON)).status).toBe(404);
  expect([finished, shop.errors]).toEqual([1, [expect.stringMatching(why), expect.any(String)]]);
});

test('an error of finish reaches `onerror`, also where the store then fails', async () => {
  let replaced = 0;
  // The page is started, then finishing, and then waits again, because finish failed.
  const store = hookedStore((method) => {
    if (method === 'replace' && ++replaced === 3) throw new Error('the store is gone');
  });
  const finish = () => {
    throw new Error('no such code');
  };
  const shop = hostWithPage({ store, finish });
  const { page } = await shop.asking();
  await shop.open(await sentBack(shop, page));
  expect(shop.errors).toEqual(['the store is gone', 'no such code']);
});

test('a finish that failed gives its user no more time, and no more pages', async () => {
  let fails = true;
  const finish = () => {
    if (fails) throw new Error('not yet');
    return 'linked';
  };
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const store = new MemoryInteractions({ limits: { entries: 10, perPrincipal: 0.1 }, now });
  const shop = hostWithPage({ store, finish, ttlSeconds: 60 }, { now });
  const { page } = await shop.asking();
  expect((await shop.open(await sentBack(shop, page))).status).toBe(500);
  expect((await shop.call()).result).toMatchObject({ isError: true });
  fails = false;
  clock.now += 60_000;
  expect((await shop.open(page, GO_ON)).status).toBe(404);
});

test('a call does not end while finish runs, however often it was asked', async () => {
  const running = new Deferred<string>();
  const shop = hostWithPage({ finish: () => running.promise, maxAsks: 1 });
  const { page, retry } = await shop.asking();
  const finishing = shop.open(await sentBack(shop, page));
  const { result } = await retry();
  expect(result?.resultType).toBe('input_required');
  running.open('linked');
  expect((await finishing).status).toBe(200);
  const again = { requestState: result?.requestState, inputResponses: { link: { action: 'accept' } } };
  expect((await shop.call(again)).result).toMatchObject({ content: [{ text: 'linked' }] });
});

test('data and words at their bounds leave room for what the page notes', async () => {
  const shop = hostWithPage({}, {}, () => ['\u0001'.repeat(5000), 'x'.repeat(4094)]);
  const { page } = await shop.asking();
  expect((await shop.open(page, GO_ON)).status).toBe(303);
});
