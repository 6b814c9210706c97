/** A browser with a script: it keeps cookies, follows redirects, and shows a page. */
import { recordVisit } from '@mrtr/harness';

export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

const MAX_REDIRECTS = 10;

/** The form of a page that has only a button. */
export const BUTTON: Readonly<Record<string, string>> = {};

export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** Opens an address, and follows where it leads. `form` posts, from a page of the same site or from that of `from`. */
  async open(address: string | URL, form?: Readonly<Record<string, string>>, from?: string): Promise<Page> {
    let page = await this.#get(new URL(address), form, from);
    for (let hop = 0; hop < MAX_REDIRECTS; hop++) {
      const next = leadOf(page);
      if (!next) return page;
      page = await this.#get(next);
    }
    throw new Error(`More than ${MAX_REDIRECTS} redirects.`);
  }

  async leadsTo(address: string | URL, form?: Readonly<Record<string, string>>): Promise<URL> {
    const page = await this.#get(new URL(address), form);
    const lead = leadOf(page);
    if (!lead) throw new Error(`${page.url.pathname} leads nowhere: ${page.status}.`);
    return lead;
  }

  async #get(url: URL, form?: Readonly<Record<string, string>>, from = url.origin): Promise<Page> {
    const cookies = this.#cookiesOf(url);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      headers: { ...(cookie !== '' && { cookie }), ...(form && { origin: from }) },
      redirect: 'manual',
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const { status, headers } = response;
    recordVisit(url.href, status);
    return { url, status, headers, text: await response.text() };
  }

  #cookiesOf({ origin }: URL): Map<string, string> {
    const known = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, known);
    return known;
  }
}

function leadOf({ url, status, headers }: Page): URL | undefined {
  const location = headers.get('location');
  return status >= 300 && status < 400 && location !== null ? new URL(location, url) : undefined;
}
