/** Attacks on a question that is finished on a page: mallory has an account, ada is the victim. */
import { ask, elicitation, protectedServer, textResult } from '@mrtr/core';
import { ContinuationStore } from '@mrtr/shapes/linear';
import { once } from '@mrtr/shapes/once';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { BUTTON } from './browser.ts';
import { createServerOn } from './linear.ts';
import { Person } from './person.ts';
import { ALL, siteOf } from './site.test-support.ts';
import type { CreateServer, SiteSettings } from './site.ts';
import { SECRETS } from './users.ts';

const REFUSED =
  'This link does not work, or has expired. Go back to where you got it and ask for a new one.\n';
const UNFINISHED = /^The page is not finished yet/;

/** A call of ada's that asks, her browser, and the address that the calendar sends it back to. */
async function linking(createServer: CreateServer, settings?: SiteSettings) {
  const site = await siteOf(createServer, settings);
  const first = await site.call('ada');
  const page = first.page ?? '';
  const ada = await site.browserOf('ada');
  return { ...site, first, page, ada, back: await site.callbackFor(ada, page) };
}

// What a page refuses, it refuses whatever shape asked.
describe.each(ALL.slice(-1))('the pages, asked for in shape %s', (_, createServer) => {
  test('another site cannot sign a browser in, nor press the button of the start page', async () => {
    const { call, browserOf, url, calendar } = await siteOf(createServer);
    const { page = '' } = await call('mallory');
    const victim = await browserOf('ada');
    const planted = new URL('/account/sign-in', url);
    expect((await victim.open(planted, { secret: SECRETS.mallory }, 'https://evil.example')).status).toBe(
      403,
    );
    expect((await victim.open(page, BUTTON)).text).toBe(REFUSED);
    const own = (await call('ada')).page ?? '';
    expect((await victim.open(own, BUTTON, 'https://evil.example')).status).toBe(403);
    const elsewhere = await victim.open(new URL('/sign-in', calendar.url), { user: 'mallory' }, url.origin);
    expect(elsewhere.status).toBe(403);
  });

  test('a browser that nobody is signed in with comes no further, at the start and at the callback', async () => {
    const { page, back } = await linking(createServer);
    for (const url of [page, back.href]) {
      const response = await fetch(url, { redirect: 'manual' });
      expect([response.status, await response.text()]).toEqual([
        401,
        'Sign in to this site first, and open the link again.\n',
      ]);
    }
  });

  test('a state is good until the next start, and for its own interaction', async () => {
    const { call, ada, page, back, callbackFor } = await linking(createServer);
    const other = await call('ada');
    const latest = await callbackFor(ada, page);
    expect((await ada.open(back)).text).toBe(REFUSED);
    // The name of another interaction with the secret of this one.
    await callbackFor(ada, other.page ?? '');
    const [otherRef] = (await callbackFor(ada, other.page ?? '')).searchParams.get('state')?.split('.') ?? [];
    const mixed = new URL(latest);
    mixed.searchParams.set('state', `${otherRef}.${latest.searchParams.get('state')?.split('.')[1]}`);
    expect((await ada.open(mixed)).text).toBe(REFUSED);
    expect((await ada.open(latest)).status).toBe(200);
  });

  test('ids and states that are guessed open nothing', async () => {
    const { call, browserOf } = await siteOf(createServer);
    const { page = '' } = await call('ada');
    const ada = await browserOf('ada');
    const authorize = await ada.leadsTo(page, BUTTON);
    const state = authorize.searchParams.get('state') ?? '';
    const [ref] = state.split('.');
    const id = new URL(page).searchParams.get('id') ?? '';
    const refuses = async (path: string) =>
      expect((await ada.open(new URL(path, page))).text, path).toBe(REFUSED);
    const ids = ['', 'x', id.slice(1), `${id}A`, 'A'.repeat(22), ref, '__proto__', '%00'];
    for (const guess of ids) await refuses(`/link/start?id=${guess}`);
    const states = [
      '',
      '.',
      ref,
      `${ref}.`,
      `${state}A`,
      `.${state}`,
      state.slice(0, -1),
      `${ref}.undefined`,
    ];
    for (const guess of states) await refuses(`/link/callback?code=x&state=${guess}`);
  });

  test('no query of a client’s or a site’s sends a browser elsewhere', async () => {
    const { call, browserOf, callbackFor, calendar } = await siteOf(createServer);
    const first = await call('ada');
    const ada = await browserOf('ada');
    const EVIL = 'https://evil.example/';
    const NAMES = 'next url redirect redirect_uri return_to callbackUrl location state'.split(' ');
    const withEvil = (url: string | URL) => {
      const evil = new URL(url);
      for (const name of NAMES) evil.searchParams.append(name, EVIL);
      return evil;
    };
    const authorize = await ada.leadsTo(withEvil(first.page ?? ''), BUTTON);
    expect(authorize.origin).toBe(calendar.url.origin);
    expect(authorize.href).not.toContain('evil');
    const back = withEvil(await callbackFor(ada, authorize.href));
    const response = await ada.open(back);
    expect([response.status, response.headers.get('location')]).toEqual([200, null]);
    expect(response.text).not.toContain('evil');
  });
});

describe.each(ALL)('shape %s', (_, createServer) => {
  test('a link that is passed on ties nobody’s account to another user’s call', async () => {
    const { call, browserOf, errors } = await siteOf(createServer);
    const first = await call('mallory');
    const seen = await (await browserOf('ada')).open(first.page ?? '');
    // Not even the calendar is reached.
    expect([seen.status, seen.text, seen.url.pathname]).toEqual([404, REFUSED, '/link/start']);
    expect(errors[0]).toBe('A browser opened a page that belongs to another user. It got 404.');
    expect((await call('mallory', first)).asks).toMatch(UNFINISHED);
  });

  test('nor does the link to the other site, which the attacker took from the start page', async () => {
    const { call, browserOf, callbackFor } = await siteOf(createServer);
    const first = await call('mallory');
    const authorize = await (await browserOf('mallory')).leadsTo(first.page ?? '', BUTTON);
    const victim = await browserOf('ada');
    // Ada allows it at the calendar: it is her application as well. Her code comes back with mallory's state.
    const back = await callbackFor(victim, authorize.href);
    expect((await victim.open(back)).text).toBe(REFUSED);
    expect((await call('mallory', first)).asks).toMatch(UNFINISHED);
  });

  test('somebody else cannot finish it with an account of their own, and its user still can', async () => {
    const { call, browserOf, callbackFor } = await siteOf(createServer);
    const first = await call('ada');
    const [ada, mallory] = [await browserOf('ada'), await browserOf('mallory')];
    const authorize = await ada.leadsTo(first.page ?? '', BUTTON);
    const hers = await callbackFor(mallory, authorize.href);
    expect((await mallory.open(hers)).text).toBe(REFUSED);
    expect((await ada.open(await callbackFor(ada, authorize.href))).status).toBe(200);
    expect((await call('ada', first)).says).toContain('Today ada');
  });

  test('a page that is finished after its time does not count, and the call says that it is over', async () => {
    const { call, first, page, ada, back, clock } = await linking(createServer, { ttlSeconds: 60 });
    clock.now += 60_000;
    expect((await ada.open(back)).text).toBe(REFUSED);
    const over = { fails: 'The page was not finished in time. Call again to get another one.' };
    expect(await call('ada', first)).toEqual(over);
    // The retry did not bring it back to life.
    for (const url of [back, page]) expect((await ada.open(url)).text).toBe(REFUSED);
  });

  test('a client cannot make up that the page is finished', async () => {
    const { call } = await siteOf(createServer);
    const { state = '' } = await call('mallory');
    const claims = [{ done: '' }, { done: 'e30' }, { done: state }, { account: 'ada@calendar.example' }];
    for (const content of [{}, ...claims]) {
      const link = { action: 'accept', content };
      expect((await call('mallory', await call('mallory'), { link })).asks).toMatch(UNFINISHED);
    }
  });
});

test('the page of a waiting handler whose call was cancelled cannot be finished any more', async () => {
  const store = new ContinuationStore();
  const { cancelledCall, first, page, ada, back } = await linking(createServerOn(store), { waitSeconds: 20 });
  await cancelledCall('ada', first, () => store.parked === 0);
  await vi.waitFor(async () => expect((await ada.open(page)).text).toBe(REFUSED), { timeout: 60_000 });
  expect((await ada.open(back)).text).toBe(REFUSED);
});

test('what was finished once answers one key, also when a client has an earlier question asked again', async () => {
  const OK = elicitation('Go on?', z.object({ ok: z.boolean() }));
  const paid: string[] = [];
  const createServer: CreateServer = (policy, { link }) => {
    const server = protectedServer({ name: 'agenda', version: '1.0.0' }, policy);
    const handler = once(async (_: object, ctx) => {
      const ok = ctx.answer('ok', OK);
      // Where `ok` is asked again, the answers to the others are kept unread.
      if (ok.kind === 'invalid') return ask({ ok: OK });
      const page = await link.question(ctx.request, 'Pay it.');
      const [rent, power] = [ctx.answer('rent', page), ctx.answer('power', page)];
      if (rent.kind !== 'accepted' || power.kind !== 'accepted')
        return ask({ rent: page, power: page, ok: OK });
      paid.push('rent', 'power');
      return textResult('Paid.');
    });
    server.registerTool('agenda', { inputSchema: z.object({}) }, handler);
    return server;
  };
  const { call } = await siteOf(createServer);
  let round = await call('ada');
  await new Person('ada').link(round.page ?? '');
  const answers = (ok: unknown) => ({
    rent: { action: 'accept' },
    power: { action: 'accept' },
    ok: { action: 'accept', content: { ok } },
  });
  for (const ok of ['perhaps', true, true, true])
    if (round.state) round = await call('ada', round, answers(ok));
  expect(paid).toEqual([]);
});
