/** The two pages of a pending interaction: where a browser starts, and where it comes back to. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { OperatorWarning } from '@mrtr/core/events';
import { parseWebPage, tellOperator } from '@mrtr/core/kit';
import { type Interactions, refOf, type StoredInteraction, StoreUnreachable } from './records.ts';
import { confirmationPage, page } from './response.ts';
import { isSameOrigin } from './same-origin.ts';

/** The signed-in user of a browser. */
export interface Visitor {
  /** The text that the policy's `principal` gives for the calls of this user. */
  readonly principal: string;
  /** The name by which the user knows the account; the start page shows it. Default: the principal. */
  readonly account?: string;
}

/** The right user has gone on from the start page. */
export interface StartVisit {
  /** Where the browser has to be sent back to; the same each time, to be registered there. */
  readonly callbackUrl: URL;
  /** Has to come back in the query of the callback. */
  readonly state: string;
  /** PKCE's S256 challenge, for an authorisation server. */
  readonly codeChallenge: string;
  /** Whose browser it is. */
  readonly principal: string;
  /** The `data` of the question. */
  readonly data: unknown;
}

/** The same user's browser came back, with the right `state`. */
export interface CallbackVisit {
  readonly callbackUrl: URL;
  /** The query of the callback. */
  readonly query: URLSearchParams;
  /** PKCE's verifier, which belongs to the challenge. */
  readonly codeVerifier: string;
  /** Whose browser it is. */
  readonly principal: string;
  /** The `data` of the question. */
  readonly data: unknown;
}

/** Who a browser belongs to, or a principal alone; undefined for nobody. */
export type BrowserIdentity = Visitor | string | undefined;

/** What the author says of the pages. */
export interface PageOptions<T> {
  /**
   * Establishes who a browser belongs to, from the session of your own site: a principal, or a principal and the name of
   * the account; undefined for a browser that nobody is signed in with.
   */
  identifyBrowser(request: Request): BrowserIdentity | Promise<BrowserIdentity>;
  /** Gives the page to send the browser to. */
  start(visit: StartVisit): string | URL | Promise<string | URL>;
  /**
   * Finishes: redeems the code, keeps the account. Its value, JSON, is the accepted answer to the question. After an
   * error, which goes to `onerror`, the user may begin again. Not called where the query says `error=access_denied`: the
   * question counts as declined then.
   */
  finish(visit: CallbackVisit): T | Promise<T>;
  /** Gets the errors that browsers and clients do not see, those of the store among them. */
  readonly onerror?: (error: Error) => void;
}

/** What a press on a button of the start page does: sends the browser on, finishes, refuses; undefined for no button. */
export type Press = 'go-on' | 'finish' | 'refuse' | undefined;

/** What the start page shows, and what comes of its buttons. */
export interface StartPage {
  /** @param token what the form has to send back. */
  show(kept: StoredInteraction, visitor: Visitor, token: string): Response;
  /** Default: its one button sends the browser on. */
  press?(form: URLSearchParams): Press;
  /** What the question's answer is made of. `finished` is what `finish` gave, undefined where it did not run. */
  valueFrom(kept: StoredInteraction, finished: unknown): unknown;
  /** The last page of a browser whose user agreed. */
  readonly done?: string;
}

const CONFIRMATION: StartPage = {
  show: ({ message }, { account, principal }) => confirmationPage(message, account ?? principal),
  valueFrom: (_kept, finished) => finished ?? null,
};

/** The start page and the callback. */
export class Pages<T> {
  readonly #records: Interactions;
  readonly #options: PageOptions<T>;
  readonly #pageAt: (name: string) => URL;
  readonly #startPage: StartPage;

  constructor(
    records: Interactions,
    options: PageOptions<T>,
    pageAt: (name: 'start' | 'callback') => URL,
    startPage = CONFIRMATION,
  ) {
    this.#startPage = startPage;
    this.#records = records;
    this.#options = options;
    this.#pageAt = pageAt as (name: string) => URL;
  }

  /** Answers a browser. */
  async fetch(request: Request): Promise<Response> {
    try {
      return await this.#answer(request);
    } catch (error) {
      this.#report(error);
      return page(500);
    }
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, searchParams: query } = new URL(request.url);
    const name = ['start', 'callback'].find((one) => this.#pageAt(one).pathname === pathname);
    if (name === undefined) return page(404);
    const isPost = request.method === 'POST' && name === 'start';
    if (request.method !== 'GET' && !isPost) return page(405);
    if (isPost && !isSameOrigin(request, this.#pageAt('start').origin)) return page(403);
    const visitor = visitorOf(await this.#options.identifyBrowser(request));
    if (!visitor) return page(401);
    if (name === 'callback') return this.#callback(query, visitor);
    const ref = refOf(query.get('id') ?? '');
    const kept = await this.#own(ref, visitor);
    if (kept?.stage !== 'waiting' && kept?.stage !== 'started') return this.#refuse('start', kept);
    const token = this.#records.tokenOf(ref, visitor.principal);
    if (!isPost) return this.#startPage.show(kept, visitor, token);
    if (!this.#startPage.press) return this.#start(ref, kept, visitor);
    const form = new URLSearchParams(await request.text());
    if (!areEqual(form.get('token') ?? '', token)) return page(403);
    const press = this.#startPage.press(form);
    if (press === undefined) return page(400);
    return press === 'go-on' ? this.#start(ref, kept, visitor) : this.#end(press, ref, kept);
  }

  /** Ends an interaction on its start page. */
  async #end(press: 'finish' | 'refuse', ref: string, kept: StoredInteraction): Promise<Response> {
    const value = this.#startPage.valueFrom(kept, undefined);
    const known =
      press === 'finish' ? ({ stage: 'finished', value } as const) : ({ stage: 'refused' } as const);
    // Of two presses one counts: the other finds another record.
    if (!(await this.#records.replace(ref, kept, known))) return this.#refuse('start', kept);
    return press === 'finish' ? page(200, {}, this.#startPage.done) : page(200, {}, REFUSED);
  }

  async #start(ref: string, kept: StoredInteraction, { principal }: Visitor): Promise<Response> {
    const [nonce, codeVerifier] = [secret(16), secret(32)];
    const started = await this.#records.replace(ref, kept, { stage: 'started', nonce, codeVerifier });
    if (!started) return this.#refuse('start', kept);
    const location = await this.#options.start({
      callbackUrl: this.#pageAt('callback'),
      state: `${ref}.${nonce}`,
      codeChallenge: hash('sha256', codeVerifier, 'base64url'),
      principal,
      data: kept.data,
    });
    return page(303, { location: parseWebPage(location).href });
  }

  async #callback(query: URLSearchParams, visitor: Visitor): Promise<Response> {
    const [ref = '', nonce = ''] = (query.get('state') ?? '').split('.');
    const kept = await this.#own(ref, visitor);
    if (kept?.stage !== 'started' || !areEqual(nonce, kept.nonce ?? ''))
      return this.#refuse('callback', kept);
    // From here on the state is used up: of two requests with it, one gets past this line.
    const taken = await this.#records.replace(ref, kept, { stage: 'finishing' });
    if (!taken) return this.#refuse('callback', kept);
    if (query.get('error') === 'access_denied') {
      await this.#records.replace(ref, taken, { stage: 'refused' });
      return page(200, {}, REFUSED);
    }
    const visit = {
      callbackUrl: this.#pageAt('callback'),
      query,
      principal: visitor.principal,
      data: kept.data,
    };
    let value: T;
    try {
      value = await this.#options.finish({ ...visit, codeVerifier: kept.codeVerifier ?? '' });
    } catch (error) {
      await this.#records.replace(ref, taken, { stage: 'waiting' }).catch((lost) => this.#report(lost));
      throw error;
    }
    try {
      const finished = await this.#records.replace(ref, taken, {
        stage: 'finished',
        value: this.#startPage.valueFrom(taken, value),
      });
      return finished ? page(200, {}, this.#startPage.done) : this.#refuse('callback', undefined);
    } catch (error) {
      // It is done. So the interaction stays as it is, and `finish` does not run again.
      this.#report(error);
      return page(
        500,
        {},
        'This was done, but it could not be recorded. Do not do it again. Ask the operator of this site.',
      );
    }
  }

  /** The interaction, if it is this principal's. */
  async #own(ref: string, { principal }: Visitor): Promise<StoredInteraction | undefined> {
    const kept = REF.test(ref) ? await this.#records.find(ref) : undefined;
    const isOwn = kept !== undefined && this.#records.isPseudonymOf(kept.pseudonym, principal);
    if (kept && !isOwn)
      this.#report(
        new OperatorWarning(
          'page_refused',
          'A browser opened a page that belongs to another user. It got 404.',
        ),
      );
    return isOwn ? kept : undefined;
  }

  /** One answer for all: whether there is such an interaction, and whose, is not for every browser. */
  #refuse(name: string, kept: StoredInteraction | undefined): Response {
    const why = kept ? `it is ${kept.stage}, or the state is not its latest` : 'this browser has none there';
    this.#report(
      new OperatorWarning('page_refused', `The ${name} page of a pending interaction was refused: ${why}.`),
    );
    return page(404);
  }

  #report(error: unknown): void {
    if (!(error instanceof StoreUnreachable)) tellOperator(error, this.#options.onerror);
  }
}

const REFUSED = 'Nothing was done, as you chose. You can close this page.';
const REF = /^[\w-]{22}$/;

const secret = (bytes: number): string => randomBytes(bytes).toString('base64url');

function areEqual(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => hash('sha256', text, 'buffer')) as [Buffer, Buffer];
  return timingSafeEqual(a, b);
}

function visitorOf(identified: BrowserIdentity): Visitor | undefined {
  const visitor = typeof identified === 'string' ? { principal: identified } : identified;
  return typeof visitor?.principal === 'string' ? visitor : undefined;
}
