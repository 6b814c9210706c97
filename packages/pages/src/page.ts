/** The two pages of a pending interaction: where a browser starts, and where it comes back to. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { tellOperator, webPage } from '@mrtr/core/kit';
import { pseudonym } from '@mrtr/core/seal';
import { type Interactions, refOf, type StoredInteraction } from './records.ts';

/** A browser of the right user is at the start page. */
export interface Started {
  /** Where the browser has to be sent back to; the same each time, to be registered there. */
  readonly callbackUrl: URL;
  /** Has to come back in the query of the callback. */
  readonly state: string;
  /** PKCE's S256 challenge, for an authorisation server. */
  readonly codeChallenge: string;
  /** Whose browser it is. */
  readonly principal: string;
}

/** The same user's browser came back, with the right `state`. */
export interface CameBack {
  readonly callbackUrl: URL;
  /** The query of the callback. */
  readonly query: URLSearchParams;
  /** PKCE's verifier, which belongs to the challenge. */
  readonly codeVerifier: string;
  /** Whose browser it is. */
  readonly principal: string;
}

/** What the author says of the pages. */
export interface PageOptions<T> {
  /**
   * Establishes who a browser belongs to, from the session of your own site. Gives the text that the policy's `principal`
   * gives for the calls of that user; undefined for a browser that nobody is signed in with.
   */
  identifyBrowser(request: Request): string | undefined | Promise<string | undefined>;
  /** Gives the page to send the browser to. */
  start(visit: Started): string | URL | Promise<string | URL>;
  /**
   * Finishes: redeems the code, keeps the account. Its value, JSON, is the accepted answer to the question. After an
   * error, which goes to `onerror`, the user may begin again. Not called where the query says `error=access_denied`: the
   * question counts as declined then.
   */
  finish(visit: CameBack): T | Promise<T>;
  /** Gets what browsers are not told. */
  readonly onerror?: (error: Error) => void;
}

/** The start page and the callback. */
export class Pages<T> {
  readonly #records: Interactions;
  readonly #options: PageOptions<T>;
  readonly #pageAt: (name: string) => URL;

  constructor(records: Interactions, options: PageOptions<T>, pageAt: (name: 'start' | 'callback') => URL) {
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
    if (request.method !== 'GET') return page(405);
    const principal = await this.#options.identifyBrowser(request);
    if (typeof principal !== 'string') return page(401);
    return name === 'start' ? this.#start(query, principal) : this.#callback(query, principal);
  }

  async #start(query: URLSearchParams, principal: string): Promise<Response> {
    const ref = refOf(query.get('id') ?? '');
    const kept = await this.#own(ref, principal);
    if (kept?.stage !== 'waiting' && kept?.stage !== 'started') return this.#refuse('start', kept);
    const [nonce, codeVerifier] = [secret(16), secret(32)];
    const started = await this.#records.replace(ref, kept, { stage: 'started', nonce, codeVerifier });
    if (!started) return this.#refuse('start', kept);
    const location = await this.#options.start({
      callbackUrl: this.#pageAt('callback'),
      state: `${ref}.${nonce}`,
      codeChallenge: hash('sha256', codeVerifier, 'base64url'),
      principal,
    });
    return page(303, { location: webPage(location).href });
  }

  async #callback(query: URLSearchParams, principal: string): Promise<Response> {
    const [ref = '', nonce = ''] = (query.get('state') ?? '').split('.');
    const kept = await this.#own(ref, principal);
    if (kept?.stage !== 'started' || !areEqual(nonce, kept.nonce ?? ''))
      return this.#refuse('callback', kept);
    // From here on the state is used up: of two requests with it, one gets past this line.
    const taken = await this.#records.replace(ref, kept, { stage: 'finishing' });
    if (!taken) return this.#refuse('callback', kept);
    if (query.get('error') === 'access_denied') {
      await this.#records.replace(ref, taken, { stage: 'refused' });
      return page(200, {}, 'Nothing was done, as you chose. You can close this page.');
    }
    try {
      const visit = { callbackUrl: this.#pageAt('callback'), query, principal };
      const value = await this.#options.finish({ ...visit, codeVerifier: kept.codeVerifier ?? '' });
      const finished = await this.#records.replace(ref, taken, { stage: 'finished', value: value ?? null });
      return finished ? page(200) : this.#refuse('callback', undefined);
    } catch (error) {
      await this.#records.replace(ref, taken, { stage: 'waiting' });
      throw error;
    }
  }

  /** The interaction, if it is this principal's. */
  async #own(ref: string, principal: string): Promise<StoredInteraction | undefined> {
    const kept = REF.test(ref) ? await this.#records.find(ref) : undefined;
    const isOwn = this.#records.ring.some((key) => pseudonym(principal, key) === kept?.principal);
    if (kept && !isOwn) this.#report(new Error("Somebody came to another user's pending interaction."));
    return isOwn ? kept : undefined;
  }

  /** One answer for all: whether there is such an interaction, and whose, is not for every browser. */
  #refuse(name: string, kept: StoredInteraction | undefined): Response {
    const why = kept ? `it is ${kept.stage}, or the state is not its latest` : 'this browser has none there';
    this.#report(new Error(`The ${name} page of a pending interaction was refused: ${why}.`));
    return page(404);
  }

  #report(error: unknown): void {
    tellOperator(error instanceof Error ? error : new Error(String(error)), this.#options.onerror);
  }
}

const REF = /^[\w-]{22}$/;

const secret = (bytes: number): string => randomBytes(bytes).toString('base64url');

function areEqual(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => hash('sha256', text, 'buffer')) as [Buffer, Buffer];
  return timingSafeEqual(a, b);
}

const WORDS: Readonly<Record<number, string>> = {
  200: 'Done. You can close this page, and go back to where you came from.',
  303: 'You are sent on.',
  401: 'Sign in to this site first, and open the link again.',
  404: 'This link is not good, or no longer. Go back to where you got it, and ask for another one.',
  405: 'This page can only be opened.',
  500: 'This did not work. Open the link again.',
};

/** A page of one sentence. Nothing of a request is ever in it. */
function page(
  status: number,
  headers: Readonly<Record<string, string>> = {},
  words = WORDS[status],
): Response {
  return new Response(`${words}\n`, { status, headers: { ...SAFE, ...headers } });
}

const SAFE = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  // The address holds the id, or a code: the next page must not learn it.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
