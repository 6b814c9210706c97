/** The two pages of a pending interaction: the start page and the callback. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { OperatorWarning } from '@mrtr/core/events';
import { parseWebPage } from '@mrtr/core/internal';
import {
  type InteractionProgress,
  type Interactions,
  refOf,
  type StoredInteraction,
  StoreUnreachable,
  type Times,
} from './records.ts';
import { confirmationPage, page } from './response.ts';
import { isSameOrigin } from './same-origin.ts';

/** The signed-in user of a browser. */
export interface Visitor {
  /** The user, as the policy's `principal` names the caller of a call. */
  readonly principal: string;
  /** The account's name, which the start page shows. Default: the principal. */
  readonly account?: string;
}

/** A visit of the right user. */
interface Visit {
  /** The URL that the other site must send the browser back to. It never changes; register it there. */
  readonly callbackUrl: URL;
  /** The user of the browser. */
  readonly principal: string;
  /** The `data` of the question. */
  readonly data: unknown;
}

/** A visit of the right user, who pressed the button of the start page. */
export interface StartVisit extends Visit {
  /** The other site must return it in the query of the callback. */
  readonly state: string;
  /** PKCE's S256 challenge, for an authorisation server. */
  readonly codeChallenge: string;
}

/** The return of the same user's browser, with the right `state`. */
export interface CallbackVisit extends Visit {
  /** The query of the callback. */
  readonly query: URLSearchParams;
  /** PKCE's verifier for the challenge. */
  readonly codeVerifier: string;
}

/** The user of a browser: a visitor, or a principal alone. Undefined if nobody is signed in. */
export type BrowserIdentity = Visitor | string | undefined;

/** The author's functions for the pages. */
export interface PageOptions<T> {
  /**
   * Authenticates a browser by your own site's session. Returns its principal, or its principal and the name of its
   * account. Returns undefined if nobody is signed in.
   */
  identifyBrowser(request: Request): BrowserIdentity | Promise<BrowserIdentity>;
  /** Returns the page to send the browser to. */
  start(visit: StartVisit): string | URL | Promise<string | URL>;
  /**
   * Finishes, for example redeems the code and stores the account. The value it returns, JSON, is the accepted answer to
   * the question. Its errors go to `onerror`, and the user may begin again. It is not called if the query has
   * `error=access_denied`: then the question counts as declined.
   */
  finish(visit: CallbackVisit): T | Promise<T>;
  /**
   * Receives the errors that browsers and clients do not see, including the store's. Default: the `onerror` of the policy,
   * and the one of the mount that serves the pages.
   */
  readonly onerror?: (error: Error) => void;
}

/** The effect of a button of the start page: sends the browser on, finishes, or refuses. Undefined without a button. */
type Press = 'continue' | 'finish' | 'refuse' | undefined;

/** The content of a start page, and the effect of its buttons. */
export interface StartPage {
  /** @param token the form must send it back. */
  show(kept: StoredInteraction, visitor: Visitor, token: string): Response;
  /** Default: its one button sends the browser on. */
  press?(form: URLSearchParams): Press;
  /** The value of an outcome that was decided now. `finished` is the value of `finish`; undefined if it did not run. */
  valueFrom(times: Times, finished: unknown): unknown;
  /** The text of the last page, after the user agreed. */
  readonly done?: string;
}

const CONFIRMATION: StartPage = {
  show: ({ message }, { account, principal }) => confirmationPage(message, account ?? principal),
  valueFrom: (_times, finished) => finished ?? null,
};

/** The start page and the callback. */
export function pagesOf<T>(
  records: Interactions,
  options: PageOptions<T>,
  pageAt: (name: 'start' | 'callback') => URL,
  tell: (error: unknown) => void,
  startPage = CONFIRMATION,
) {
  // The records have reported the store's own error.
  const report = (error: unknown) => error instanceof StoreUnreachable || tell(error);

  async function answer(request: Request) {
    const { pathname, searchParams: query } = new URL(request.url);
    const name = (['start', 'callback'] as const).find((one) => pageAt(one).pathname === pathname);
    if (name === undefined) return page(404);
    const isPost = request.method === 'POST' && name === 'start';
    if (request.method !== 'GET' && !isPost) return page(405);
    if (isPost && !isSameOrigin(request, pageAt('start').origin)) return page(403);
    const visitor = visitorOf(await options.identifyBrowser(request));
    if (!visitor) return page(401);
    if (name === 'callback') return callback(query, visitor);
    const ref = refOf(query.get('id') ?? '');
    const kept = await find(ref);
    if (!isOwn(kept, visitor) || (kept.stage !== 'waiting' && kept.stage !== 'started'))
      return reject('start', kept, visitor);
    const token = records.tokenOf(ref, visitor.principal);
    if (!isPost) return startPage.show(kept, visitor, token);
    if (!startPage.press) return start(kept, visitor);
    const form = new URLSearchParams(await request.text());
    if (!areEqual(form.get('token') ?? '', token)) return page(403);
    const press = startPage.press(form);
    if (press === undefined) return page(400);
    return press === 'continue' ? start(kept, visitor) : end(press, kept, visitor);
  }

  /** Ends an interaction on its start page. */
  async function end(press: 'finish' | 'refuse', kept: StoredInteraction, visitor: Visitor) {
    const value = startPage.valueFrom(records.timesOf(kept), undefined);
    const known: InteractionProgress =
      press === 'finish' ? { stage: 'finished', value } : { stage: 'refused' };
    // If a button is pressed twice, one press counts: the other finds a changed record.
    if (!(await records.replace(kept, known))) return reject('start', kept, visitor);
    return page(200, {}, press === 'finish' ? startPage.done : REFUSED);
  }

  async function start(kept: StoredInteraction, visitor: Visitor) {
    const [nonce, codeVerifier] = [secret(16), secret(32)];
    const started = await records.replace(kept, { stage: 'started', nonce, codeVerifier });
    if (!started) return reject('start', kept, visitor);
    const location = await options.start({
      callbackUrl: pageAt('callback'),
      state: `${kept.ref}.${nonce}`,
      codeChallenge: hash('sha256', codeVerifier, 'base64url'),
      principal: visitor.principal,
      data: kept.data,
    });
    return page(303, { location: parseWebPage(location).href });
  }

  async function callback(query: URLSearchParams, visitor: Visitor) {
    const [ref = '', nonce = ''] = (query.get('state') ?? '').split('.');
    const kept = await find(ref);
    if (!isOwn(kept, visitor) || kept.stage !== 'started' || !areEqual(nonce, kept.nonce ?? ''))
      return reject('callback', kept, visitor);
    // This uses the state up: of two requests with it, one passes.
    const taken = await records.replace(kept, { stage: 'finishing' });
    if (!taken) return reject('callback', kept, visitor);
    if (query.get('error') === 'access_denied') {
      await records.replace(taken, { stage: 'refused' });
      return page(200, {}, REFUSED);
    }
    const { principal } = visitor;
    const visit = { callbackUrl: pageAt('callback'), query, principal, data: kept.data };
    let value: T;
    try {
      value = await options.finish({ ...visit, codeVerifier: kept.codeVerifier ?? '' });
    } catch (error) {
      await records.replace(taken, { stage: 'waiting' }).catch((lost) => report(lost));
      throw error;
    }
    try {
      const finished = await records.replace(taken, {
        stage: 'finished',
        value: startPage.valueFrom(records.timesOf(taken), value),
      });
      return finished ? page(200, {}, startPage.done) : reject('callback', undefined, visitor);
    } catch (error) {
      // `finish` has succeeded, so leave the interaction as it is: `finish` must not run again.
      report(error);
      return page(500, {}, NOT_RECORDED);
    }
  }

  /** Finds the interaction of any user. */
  async function find(ref: string) {
    return REF.test(ref) ? records.find(ref) : undefined;
  }

  function isOwn(kept: StoredInteraction | undefined, { principal }: Visitor): kept is StoredInteraction {
    return kept !== undefined && records.isPseudonymOf(kept.pseudonym, principal);
  }

  /** Rejects all alike: a browser must not learn whether an interaction exists, or whose it is. */
  function reject(name: string, kept: StoredInteraction | undefined, visitor: Visitor) {
    let why = 'this link names no interaction';
    if (kept) why = `it is ${kept.stage}, or the state is not its latest`;
    if (kept && !isOwn(kept, visitor)) why = 'it belongs to another user';
    const message = `The ${name} page of a pending interaction was rejected: ${why}.`;
    report(new OperatorWarning('page_rejected', message));
    return page(404);
  }

  /** Answers a browser. */
  return async (request: Request) => {
    try {
      return await answer(request);
    } catch (error) {
      report(error);
      return page(500);
    }
  };
}

const REFUSED = 'Nothing was done, as you chose. You can close this page.';
const NOT_RECORDED =
  'This was done, but it could not be recorded. Do not do it again. Ask the operator of this site.';
const REF = /^[\w-]{22}$/;

const secret = (bytes: number) => randomBytes(bytes).toString('base64url');

function areEqual(one: string, other: string) {
  const [a, b] = [one, other].map((text) => hash('sha256', text, 'buffer')) as [Buffer, Buffer];
  return timingSafeEqual(a, b);
}

function visitorOf(identified: BrowserIdentity) {
  const visitor = typeof identified === 'string' ? { principal: identified } : identified;
  return typeof visitor?.principal === 'string' ? visitor : undefined;
}
