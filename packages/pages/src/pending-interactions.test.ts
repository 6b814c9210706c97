import type { Posted } from '@mrtr/harness';
import { expect, onTestFinished, test, vi } from 'vitest';
import { hostWithPage, SIGNED_IN } from './page.test-support.ts';
import type { PendingInteractionsOptions } from './pending-interactions.ts';
import { MemoryInteractions } from './store.ts';

const FINISHED = 'Done. You can close this page, and go back to where you came from.\n';

type Asking = { inputRequests: { link: { params: { url: string } } }; requestState: string };

/** The page of a call, and its retry. */
async function asking({ call }: ReturnType<typeof hostWithPage>) {
  const { inputRequests, requestState } = (await call()).result as unknown as Asking;
  const inputResponses = { link: { action: 'accept' } };
  return {
    page: inputRequests.link.params.url,
    retry: () => call({ requestState, inputResponses }),
    decline: () => call({ requestState, inputResponses: { link: { action: 'decline' } } }),
  };
}

/** Where a browser of ada's is sent back to. */
const sentBack = async ({ open }: ReturnType<typeof hostWithPage>, page: string) =>
  (await open(page)).headers.get('location') as string;

test('of two callbacks at the same moment one finishes, and the work is done once', async () => {
  let runs = 0;
  const shop = hostWithPage({ finish: async () => `linked ${++runs}` });
  const { page, retry } = await asking(shop);
  const back = await sentBack(shop, page);
  const responses = await Promise.all([1, 2, 3].map(() => shop.open(back)));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
  expect((await retry()).result).toMatchObject({ content: [{ text: 'linked 1' }] });
  expect(runs).toBe(1);
});

test('of two starts at the same moment one counts', async () => {
  const shop = hostWithPage();
  const { page } = await asking(shop);
  const responses = await Promise.all([shop.open(page), shop.open(page)]);
  expect(responses.map(({ status }) => status).sort()).toEqual([303, 404]);
});

test('a page that a browser opens while its call gives it up is closed all the same', async () => {
  let opens: (() => Promise<unknown>) | undefined;
  /** The browser is at the start page between each look of the call and what it makes of it. */
  class Slow extends MemoryInteractions {
    override async replace(...args: Parameters<MemoryInteractions['replace']>) {
      const first = opens;
      opens = undefined;
      await first?.();
      return super.replace(...args);
    }
  }
  const shop = hostWithPage({ store: new Slow() });
  const { page, decline } = await asking(shop);
  let back = '';
  opens = async () => {
    back = await sentBack(shop, page);
  };
  expect((await decline()).result).not.toHaveProperty('isError');
  expect(back).toContain('state=');
  expect((await shop.open(back)).status).toBe(404);
});

test('a caller without a principal gets an error that says why: nobody could come to the page', async () => {
  expect((await hostWithPage().call({}, '')).result).toMatchObject({
    isError: true,
    content: [{ text: 'This needs a caller whose identity is known: the page belongs to one user.' }],
  });
});

test('pages are opened, and nothing else is done with them', async () => {
  const shop = hostWithPage();
  const { page } = await asking(shop);
  for (const method of ['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
    expect((await shop.open(page, { ...SIGNED_IN, method })).status).toBe(405);
  }
  for (const url of [
    'https://shop.example/link',
    'https://shop.example/link/',
    'https://shop.example/link/other',
  ]) {
    expect((await shop.open(url)).status).toBe(404);
  }
  expect((await shop.open(page)).status).toBe(303);
});

test('no page can be framed, is kept, or tells the next page its address', async () => {
  const shop = hostWithPage();
  const { page } = await asking(shop);
  const back = await sentBack(shop, page);
  for (const url of [page, back, back]) {
    const { headers } = await shop.open(url);
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('content-type')).toMatch(/^text\/plain/);
  }
});

test('what the author’s functions throw stays on the server, and the user may begin again', async () => {
  let down = true;
  const fails = () => {
    if (down) throw new Error('db-7.internal is down');
    return 'linked';
  };
  const shop = hostWithPage({ finish: fails });
  const { page, retry } = await asking(shop);
  const failed = await shop.open(await sentBack(shop, page));
  expect([failed.status, await failed.text()]).toEqual([500, 'This did not work. Open the link again.\n']);
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
  const { page } = await asking(shop);
  const response = await shop.open(page);
  expect([response.status, response.headers.get('location')]).toEqual([500, null]);
});

test('a value of finish that is too large to keep is the author’s mistake', async () => {
  const shop = hostWithPage({ finish: () => 'x'.repeat(8192) });
  const { page } = await asking(shop);
  expect((await shop.open(await sentBack(shop, page))).status).toBe(500);
  expect(shop.errors[0]).toMatch(/^An interaction would hold \d+ bytes; 8192 are allowed\.$/);
});

test('who reads the store finds neither the id of a page, nor a state, nor a user', async () => {
  const seen: string[] = [];
  class Read extends MemoryInteractions {
    override add(interaction: Parameters<MemoryInteractions['add']>[0]) {
      seen.push(JSON.stringify(interaction));
      return super.add(interaction);
    }
    override replace(...args: Parameters<MemoryInteractions['replace']>) {
      seen.push(JSON.stringify(args));
      return super.replace(...args);
    }
  }
  const shop = hostWithPage({ store: new Read() });
  const { page } = await asking(shop);
  const back = await sentBack(shop, page);
  await shop.open(back);
  const nonce = new URL(back).searchParams.get('state')?.split('.')[1] as string;
  const stored = seen.join('\n');
  expect(seen).toHaveLength(4);
  for (const secret of [new URL(page).searchParams.get('id') as string, nonce, 'ada', 'linked']) {
    expect(stored).not.toContain(secret);
  }
});

/** Whether a retry asks, or the text of its end. */
const outcome = ({ result }: Posted) => ('inputRequests' in (result ?? {}) ? 'asked' : result?.isError);

test('a call may wait for its page until its time is over, and ends then', async () => {
  let now = Date.now();
  const store = new MemoryInteractions({ now: () => now });
  const host = hostWithPage({ store, ttlSeconds: 60 }, { now: () => now });
  const { retry } = await asking(host);
  now += 59_999;
  expect(outcome(await retry())).toBe('asked');
  now += 1;
  expect(outcome(await retry())).toBe(true);
});

test('a retry waits for the page as long as it may, and then the question goes out again', async () => {
  const { retry } = await asking(hostWithPage({ waitSeconds: 3 }));
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

test.each<[Partial<PendingInteractionsOptions<string>>, RegExp]>([
  [{ ttlSeconds: 0 }, /ttlSeconds must be a whole number/],
  [{ maxAsks: 1.5 }, /maxAsks must be a whole number/],
  [{ waitSeconds: -1 }, /waitSeconds must be a whole number/],
  [{ identifyBrowser: undefined as never }, /identifyBrowser must be a function/],
  [{ url: 'shop.example' }, /A page needs a whole address/],
])('rejects the option %o', (over, why) => {
  expect(() => hostWithPage(over)).toThrow(why);
});
