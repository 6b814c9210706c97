/**
 * Interactions that a user finishes on a page, in a browser, while a call waits for them.
 *
 * Invariants:
 * 1. An interaction belongs to one page, one call, one question and one principal. Both pages first authenticate the
 *    browser. To any other principal the interaction does not exist. Its outcome answers only the first key that asked
 *    for it.
 * 2. The start page names the browser's account, and sends the browser on when the user presses the button. Each press
 *    makes a fresh `state`, which the callback accepts once. Of several requests with it, one finishes.
 * 3. The start page redirects only to the URL that the author's `start` returns. The callback never redirects.
 * 4. Records are sealed and stored under a digest of the id. A reader of the store cannot open a page.
 * 5. A call that abandons an interaction closes it. A finished interaction no longer counts as an open page, and is kept
 *    while the call can come back for it.
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
  findCall,
  listenerOf,
  type OptionChecks,
  parseWebPage,
  partsOf,
  requireOptions,
  tellOperator,
  wholeNumber,
  wholeSeconds,
  withDefaults,
} from '@mrtr/core/internal';
import { MemoryInteractions } from './memory-interactions.ts';
import { type PageOptions, pagesOf, type StartPage } from './page.ts';
import { type LinkOptions, type PageQuestion, pageQuestions, type WaitingContext } from './page-questions.ts';
import { interactionsOf } from './records.ts';
import type { InteractionStore } from './store.ts';

/** The options of {@link pendingInteractions}. */
export interface PendingInteractionsOptions<T> extends PageOptions<T> {
  /** The server's policy: its keys seal the records, and its `principal` identifies the caller of a call. */
  readonly policy: RequestStatePolicy;
  /**
   * The address of the pages: `https://shop.example/link` has `/link/start` and `/link/callback`. Give a function if you
   * know the address only once the server listens. Its path distinguishes the page from others on the same store: an
   * outcome of one never counts for another.
   */
  readonly url: string | URL | (() => string | URL);
  /** Default: this process's memory. Several instances need a store that they share. */
  readonly store?: InteractionStore;
  /** How long a user may take, in seconds. Default 600. */
  readonly ttlSeconds?: number;
  /** How long a retry waits for the user to finish, in seconds. Default 20: many clients give a request 60. */
  readonly waitSeconds?: number;
  /** How often one call may ask its user to open the page. Default 5. */
  readonly maxAsks?: number;
}

export const PAGE_DEFAULTS = { ttlSeconds: 600, waitSeconds: 20, maxAsks: 5 };

/** @internal The options of earlier versions. */
export const GONE_OF_PAGES = { name: 'It is the path of `url`.' };

/** @internal The checks of the options that all pages share. */
export const PAGE_CHECKS: OptionChecks<Omit<PendingInteractionsOptions<unknown>, 'start' | 'finish'>> = {
  policy: asRequired(aPolicy),
  // parseWebPage() checks the address, or later the value of the function.
  url: asRequired(anyValue),
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

/** The questions and the pages of {@link pendingInteractions}. */
export interface PendingInteractions<T> {
  /** The path above the pages. */
  readonly path: string;
  /**
   * The question that sends the user to the start page. Its answer is the value of `finish`. A user who only agreed to
   * open the page is asked again, in other words. It is for handlers that run again in each round: all shapes but B and H.
   * In H use {@link ask}.
   *
   * @param ctx the SDK's context; in a shape, `ctx.request`.
   * @throws CannotAsk for a caller without a principal.
   * @throws InvalidOption for a wrong option, for `data` that is too large, and for two questions of one call that cannot
   * be distinguished.
   * @throws InteractionUnfinished when the time is over, and after `maxAsks` questions.
   * @throws StoreFull when too many pages are open, and StoreUnreachable when the store fails.
   */
  question(ctx: ServerContext, message: string, options?: LinkOptions<T>): Promise<Question<T>>;
  /**
   * Asks in a handler that waits (shape H), and resolves with the value of `finish`. A durable store records its steps
   * under `key`.
   *
   * @param ctx the handler's context.
   * @param key names the question, uniquely in the call.
   * @throws ElicitationDeclined when the user refuses, in the client or on the other site.
   * @throws CannotAsk for a caller without a principal, and without a `fallback` for a client that cannot open pages.
   * @throws InvalidOption, InteractionUnfinished, StoreFull and StoreUnreachable as {@link question}.
   * @example const { account } = await link.ask(ctx, 'link', 'Link your calendar to the shop.');
   */
  ask(ctx: WaitingContext, key: string, message: string, options?: Omit<LinkOptions<T>, 'name'>): Promise<T>;
  /** Serves the two pages, in `serveHttp(served, { pages: [link] })` or any other server. */
  fetch(request: Request): Promise<Response>;
}

/**
 * Ties a question to the page on which the user finishes it.
 *
 * @throws InvalidOption for an unknown, missing or invalid option, such as a `url` that is not of the web.
 * @example
 * const link = pendingInteractions({ policy, url: 'https://shop.example/link', identifyBrowser, start, finish });
 * await serveHttp(served, { pages: [link] });
 *
 * // In a journaled handler:
 * const { account } = await ctx.ask('link', await link.question(ctx.request, 'Link your calendar to the shop.'));
 */
export function pendingInteractions<T>(options: PendingInteractionsOptions<T>): PendingInteractions<T> {
  requireOptions('pendingInteractions', options, CHECKS, GONE_OF_PAGES);
  const { questionsFor, path, fetch, inOwnScope } = makePages(options);
  return {
    get path() {
      return path();
    },
    question: async (ctx, message, more = {}) => {
      requireOptions('question', more, { fallback: anyValue, name: aText, data: anyValue });
      return inOwnScope(() => questionsFor(ctx).questions.ask<T>(ctx, linkTo(message, more)));
    },
    ask: async (ctx, key, message, more = {}) => {
      requireOptions('ask', more, { fallback: anyValue, data: anyValue });
      if (!ctx.canAsk('elicitation.url') && more.fallback !== undefined) return more.fallback;
      return questionsFor().questions.waitFor<T>(ctx, key, linkTo(message, more));
    },
    fetch,
  };
}

/** A question whose answer is the value of `finish`. */
const linkTo = <T>(message: string, more: LinkOptions<T>): PageQuestion<T> => ({
  message,
  ...more,
  ask: urlElicitation,
  valueFrom: (finished) => finished as T,
});

/**
 * @internal Makes the pages of one sort, and the questions that send users there.
 *
 * @param sort an outcome on a page of one sort does not count on a page of another.
 */
export function makePages<T>(options: PendingInteractionsOptions<T>, startPage?: StartPage, sort = '') {
  const { policy, url, ttlSeconds, waitSeconds, maxAsks } = withDefaults(options, PAGE_DEFAULTS);
  const { store = new MemoryInteractions({ now: partsOf(policy).now }), onerror } = options;
  const base = () => parseWebPage(typeof url === 'function' ? url() : url);
  if (typeof url !== 'function') base();
  const path = () => base().pathname.replace(/\/$/, '');
  const pageAt = (name: 'start' | 'callback') => new URL(`${path()}/${name}`, base().origin);
  const recordsFor = (report: Report) =>
    interactionsOf({
      ...{ store, policy, ttlSeconds, report },
      pageName: () => `${path()}${sort}`,
    });
  const reporterFor =
    (request?: Request): Report =>
    (error) =>
      tellOperator(error, ...(onerror ? [onerror] : [listenerOf(policy), request && listenerOf(request)]));
  // A strict journal watches for clocks that its handler reads. Code in here is not the handler's.
  const outside = new AsyncResource('mrtr.interactions');
  return {
    path,
    /** @param ctx the context of the call that asks, if its handler has one. */
    questionsFor(ctx?: ServerContext) {
      const call = ctx && findCall(ctx);
      const records = recordsFor(onerror || !call ? reporterFor() : (error) => call.report(error));
      const settings = { records, startPage: () => pageAt('start'), waitSeconds, maxAsks };
      return { records, questions: pageQuestions(settings) };
    },
    fetch: async (request: Request) => {
      const report = reporterFor(request);
      return pagesOf(recordsFor(report), options, pageAt, report, startPage)(request);
    },
    inOwnScope: <R>(work: () => R) => outside.runInAsyncScope(work),
  };
}

type Report = (error: unknown) => void;
