/** A site, callers who make their rounds by hand, and a clock. */
import { requestStatePolicy } from '@mrtr/core';
import { type Posted, poster, requestInit } from '@mrtr/harness';
import { ContinuationStore } from '@mrtr/shapes/linear';
import { expect, onTestFinished, vi } from 'vitest';
import { type Browser, BUTTON } from './browser.ts';
import { createServer as journal } from './journal.ts';
import { createServerOn } from './linear.ts';
import { Person } from './person.ts';
import { type CreateServer, type SiteSettings, startSite } from './site.ts';
import { createServer as toolBuilder } from './tool-builder.ts';
import { SECRETS, type UserName } from './users.ts';

export const ALL = [
  ['G', toolBuilder],
  ['H', createServerOn(new ContinuationStore())],
  ['J', journal],
] as const;

const OPENS_PAGES = { elicitation: { form: {}, url: {} } };
const AGREED = { link: { action: 'accept' } };

export interface Round {
  readonly asks?: string;
  readonly page?: string;
  readonly says?: string;
  readonly fails?: string;
  readonly error?: Posted['error'];
  readonly state?: string;
}

/** A site of one shape, with a clock that tests turn. */
export async function siteOf(createServer: CreateServer, settings: SiteSettings = {}) {
  const clock = { now: Date.now() };
  const errors: string[] = [];
  const state = requestStatePolicy({
    keys: ['k'.repeat(32)],
    singleUse: false,
    now: () => clock.now,
    onerror: (error) => errors.push(error.message),
  });
  const onerror = (error: Error) => errors.push(error.message);
  const site = await startSite(createServer, state, { waitSeconds: 0, onerror, ...settings });
  onTestFinished(() => site.close());
  const post = poster(site.url);

  const call = async (
    name: UserName,
    before?: Round,
    inputResponses: Readonly<Record<string, unknown>> = AGREED,
    capabilities: unknown = OPENS_PAGES,
  ): Promise<Round> => {
    const retry = before && { inputResponses, requestState: before.state };
    const headers = { authorization: `Bearer ${SECRETS[name]}` };
    const params = { name: 'agenda', arguments: {}, ...retry };
    return roundOf(await post('tools/call', params, { headers, capabilities }));
  };

  /** Retries, and hangs up when `isWaiting` says that the retry waits for the page. */
  const cancelledCall = async (name: UserName, { state }: Round, isWaiting: () => boolean): Promise<void> => {
    const params = { name: 'agenda', arguments: {}, inputResponses: AGREED, requestState: state };
    const headers = { authorization: `Bearer ${SECRETS[name]}` };
    const init = requestInit('tools/call', params, { headers, capabilities: OPENS_PAGES });
    const hangUp = new AbortController();
    const retry = fetch(site.url, { ...init, signal: hangUp.signal });
    await vi.waitUntil(isWaiting, { timeout: 60_000 });
    hangUp.abort();
    await expect(retry.then((response) => response.text())).rejects.toThrow();
  };

  const browserOf = async (name: UserName): Promise<Browser> => {
    const { browser } = new Person(name);
    await browser.open(new URL('/account/sign-in', site.url), { secret: SECRETS[name] });
    await browser.open(new URL('/sign-in', site.calendar.url), { user: name });
    return browser;
  };

  /** What the calendar, asked by `authorize`, sends the browser back with. It does not go there. */
  const callbackFor = async (browser: Browser, page: string): Promise<URL> => {
    const asked = await browser.open(page, new URL(page).pathname === '/link/start' ? BUTTON : undefined);
    const grant = /grant=(\S+)/.exec(asked.text)?.[1] ?? '';
    return browser.leadsTo(new URL('/decide', asked.url), { grant, allow: 'yes' });
  };
  return { ...site, clock, errors, call, cancelledCall, browserOf, callbackFor };
}

function roundOf({ result, error }: Posted): Round {
  if (error) return { error };
  const { content, inputRequests, requestState, isError } = result as {
    content?: { text: string }[];
    inputRequests?: Record<string, { params: { message: string; url?: string } }>;
    requestState?: string;
    isError?: boolean;
  };
  if (requestState !== undefined) {
    const { message, url } = Object.values(inputRequests ?? {})[0]?.params ?? {};
    return {
      state: requestState,
      ...(message !== undefined && { asks: message }),
      ...(url !== undefined && { page: url }),
    };
  }
  const text = content?.[0]?.text ?? '';
  return isError ? { fails: text } : { says: text };
}
