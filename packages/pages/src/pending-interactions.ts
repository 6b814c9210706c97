/**
 * Interactions that a user finishes on a page, in a browser, while a call waits for them.
 *
 * Invariants:
 * 1. An interaction belongs to one page, one call, one question and one principal. Both pages first establish who the
 *    browser belongs to, and answer everybody but that principal as if there were no such interaction. What came of it
 *    answers the first key that asked for it, and no other.
 * 2. The start page names the account that the browser is signed in with, and goes on when its user says so. Each time it
 *    makes a fresh `state`, and the callback takes it once. Of several requests with it, one finishes.
 * 3. A browser is sent where the author's `start` says, and nowhere else. The callback sends nobody on.
 * 4. What is stored is sealed, under a digest of the id: nobody who reads the store can open a page.
 * 5. The call that gives an interaction up closes it. One that is over gives back its place among the open pages, and is
 *    kept as long as the call can come back for it.
 */
import { AsyncResource } from 'node:async_hooks';
import { type Question, type RequestStatePolicy, type ServerContext, urlElicitation } from '@mrtr/core';
import {
  aFunction,
  anObjectWith,
  anyValue,
  aPolicy,
  asRequired,
  aText,
  clockOf,
  type OptionChecks,
  parseWebPage,
  requireOptions,
  ttlOf,
  wholeNumber,
  wholeSeconds,
  withDefaults,
} from '@mrtr/core/kit';
import { keyRingOf } from '@mrtr/core/seal';
import { MemoryInteractions } from './memory-interactions.ts';
import { type PageOptions, Pages, type StartPage } from './page.ts';
import { Asking, type LinkOptions, type Subject, type WaitingContext } from './question.ts';
import { Interactions } from './records.ts';
import type { InteractionStore } from './store.ts';

/** The options of {@link pendingInteractions}. */
export interface PendingInteractionsOptions<T> extends PageOptions<T> {
  /** The server's policy: its keys seal what is stored, and its `principal` says whose a call is. */
  readonly policy: RequestStatePolicy;
  /**
   * Where browsers reach the pages: `https://shop.example/link` has `/link/start` and `/link/callback`. A function for an
   * address that is known once the server listens.
   */
  readonly url: string | URL | (() => string | URL);
  /**
   * Tells this page from others on the same store: what is finished on one never counts for another. Default: the path of
   * `url`.
   */
  readonly name?: string;
  /** Default: the memory of this process. Several instances need one that they share. */
  readonly store?: InteractionStore;
  /** How long a user may take, in seconds. Default 600. */
  readonly ttlSeconds?: number;
  /** How long a retry waits for the user to finish, in seconds. Default 20: many clients give a request 60. */
  readonly waitSeconds?: number;
  /** How often one call may send its user to the page. Default 5. */
  readonly maxAsks?: number;
}

export const PAGE_DEFAULTS = { ttlSeconds: 600, waitSeconds: 20, maxAsks: 5 };

/** The checks of the options that every page has. */
export const PAGE_CHECKS: OptionChecks<Omit<PendingInteractionsOptions<unknown>, 'start' | 'finish'>> = {
  policy: asRequired(aPolicy),
  // parseWebPage() checks it, and a function's value later.
  url: asRequired(anyValue),
  name: aText,
  store: anObjectWith('add', 'find', 'replace'),
  ttlSeconds: wholeNumber(),
  waitSeconds: wholeSeconds(0),
  maxAsks: wholeNumber(),
  identifyBrowser: asRequired(aFunction),
  onerror: aFunction,
};

const CHECKS: OptionChecks<PendingInteractionsOptions<unknown>> = {
  ...PAGE_CHECKS,
  start: asRequired(aFunction),
  finish: asRequired(aFunction),
};

/** What {@link pendingInteractions} makes. */
export interface PendingInteractions<T> {
  /** The path that the pages are below. */
  readonly path: string;
  /**
   * The question that sends the user to the start page. It is answered when `finish` has given its value: a user who has
   * only agreed to open the page is asked again, in other words. For handlers that are entered in each round (all shapes
   * but B and H, which has {@link ask}).
   *
   * @param ctx the SDK's context; in a shape, `ctx.request`.
   * @throws CannotAsk for a caller without a principal.
   * @throws InvalidOption for a wrong option, for `data` that is too large, and for two questions of one call that cannot
   * be told apart.
   * @throws InteractionUnfinished when the time is over, and when the user was asked as often as allowed.
   * @throws StoreFull when too many pages are open, and StoreUnreachable when the store fails.
   */
  question(ctx: ServerContext, message: string, options?: LinkOptions<T>): Promise<Question<T>>;
  /**
   * The same for a handler that waits, in shape H: asks, and resolves with what `finish` gave. On a durable store its
   * steps are recorded under `key`.
   *
   * @param ctx the handler's context.
   * @param key names the question, uniquely in the call.
   * @throws ElicitationDeclined when the user refuses, here or on the other site.
   * @throws CannotAsk for a caller without a principal, and for a client that cannot open pages if there is no `fallback`.
   * @throws InvalidOption, InteractionUnfinished, StoreFull and StoreUnreachable as {@link question}.
   * @example const { account } = await link.ask(ctx, 'link', 'Link your calendar to the shop.');
   */
  ask(ctx: WaitingContext, key: string, message: string, options?: Omit<LinkOptions<T>, 'name'>): Promise<T>;
  /** Serves the two pages: `serveHttp(served, { pages: [link] })`, or any other server. */
  fetch(request: Request): Promise<Response>;
}

/**
 * Ties a question to the page that the user finishes it on.
 *
 * @throws InvalidOption for an option that does not exist, is missing, or has a value that it cannot have, such as a
 * `url` that is no web page's.
 * @example
 * const link = pendingInteractions({ policy, url: 'https://shop.example/link', identifyBrowser, start, finish });
 * await serveHttp(served, { pages: [link] });
 *
 * // In a journaled handler:
 * const { account } = await ctx.ask('link', await link.question(ctx.request, 'Link your calendar to the shop.'));
 */
export function pendingInteractions<T>(options: PendingInteractionsOptions<T>): PendingInteractions<T> {
  requireOptions<PendingInteractionsOptions<unknown>>('pendingInteractions', options, CHECKS);
  const { asking, path, fetch, inOwnScope } = makePages(options);
  return {
    get path() {
      return path();
    },
    question: async (ctx, message, more = {}) => {
      requireOptions<LinkOptions<T>>('question', more, { fallback: anyValue, name: aText, data: anyValue });
      return inOwnScope(() => asking.ask<T>(ctx, linkTo(message, more)));
    },
    ask: async (ctx, key, message, more = {}) => {
      requireOptions<typeof more>('ask', more, { fallback: anyValue, data: anyValue });
      if (!ctx.canAsk('elicitation.url') && more.fallback !== undefined) return more.fallback;
      return asking.waitFor<T>(ctx, key, linkTo(message, more));
    },
    fetch,
  };
}

/** A question whose answer is what the page gave. */
const linkTo = <T>(message: string, more: LinkOptions<T>): Subject<T> => ({
  message,
  ...more,
  ask: urlElicitation,
  valueFrom: (finished) => finished as T,
});

/**
 * The pages of one sort, and the questions that send users there.
 *
 * @param sort what is finished on a page of one sort does not count on a page of another.
 */
export function makePages<T>(options: PendingInteractionsOptions<T>, startPage?: StartPage, sort = '') {
  const { policy, url, ttlSeconds, waitSeconds, maxAsks } = withDefaults(options, PAGE_DEFAULTS);
  const { store = new MemoryInteractions({ now: clockOf(policy) }) } = options;
  const base = () => parseWebPage(typeof url === 'function' ? url() : url);
  if (typeof url !== 'function') base();
  const path = () => base().pathname.replace(/\/$/, '');
  const pageAt = (name: 'start' | 'callback') => new URL(`${path()}/${name}`, base().origin);
  const records = new Interactions({
    store,
    ring: () => keyRingOf(policy),
    pageName: () => `${options.name ?? path()}${sort}`,
    ttlSeconds,
    stateTtlSeconds: ttlOf(policy),
    now: clockOf(policy),
    onerror: options.onerror,
  });
  const pages = new Pages(records, options, pageAt, startPage);
  // A strict journal watches the clocks of its handler, and what happens in here is not the handler's.
  const outside = new AsyncResource('mrtr.interactions');
  return {
    path,
    records,
    asking: new Asking({ records, startPage: () => pageAt('start'), waitSeconds, maxAsks }),
    fetch: (request: Request) => pages.fetch(request),
    inOwnScope: <R>(work: () => R): R => outside.runInAsyncScope(work),
  };
}
