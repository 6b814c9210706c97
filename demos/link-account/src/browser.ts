/** A browser with a script: it keeps cookies, follows redirects, and shows a page. */
import { recordVisit } from '@mrtr/harness';

/** A page that a browser shows. */
export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

const MOST_REDIRECTS = 10;

/** One browser: cookies of one person. */
export class Browser {
  /** The addresses that were visited, redirects included. */
  readonly visited: URL[] = [];
  readonly #cookies = new Map<string, Map<string, string>>();

  /** Opens an address, and follows where it leads. `form` posts. */
  async open(address: string | URL, form?: Readonly<Record<string, string>>): Promise<Page> {
    let [url, body] = [new URL(address), form && new URLSearchParams(form)];
    for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
      this.visited.push(url);
      const cookies = this.#cookiesOf(url);
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(url, {
        headers: cookie === '' ? {} : { cookie },
        redirect: 'manual',
        ...(body && { method: 'POST', body }),
      });
      for (const set of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        cookies.set(name, value);
      }
      recordVisit(url.href, response.status);
      const { status, headers } = response;
      const location = headers.get('location');
      const text = await response.text();
      if (status < 300 || status > 399 || location === null) return { url, status, text, headers };
      [url, body] = [new URL(location, url), undefined];
    }
    throw new Error(`More than ${MOST_REDIRECTS} redirects.`);
  }

  #cookiesOf({ origin }: URL): Map<string, string> {
    const known = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, known);
    return known;
  }
}
