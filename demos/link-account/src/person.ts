/** A person with a browser, who is signed in nowhere when the day begins. */
import { Browser, BUTTON, type Page } from './browser.ts';
import { SECRETS, type UserName } from './users.ts';

export class Person {
  readonly browser = new Browser();
  readonly #name: UserName;

  constructor(name: UserName) {
    this.#name = name;
  }

  /** Opens a link to the start page and goes on, signing in where it says so. Ends at the calendar's question. */
  async begin(link: string | URL): Promise<Page> {
    const start = await this.browser.open(link);
    const page = start.status === 200 ? await this.browser.open(link, BUTTON) : start;
    const isOwnSite = page.url.pathname === '/link/start';
    if (page.status !== 401) return page;
    const [signIn, form] = isOwnSite
      ? (['/account/sign-in', { secret: SECRETS[this.#name] }] as const)
      : (['/sign-in', { user: this.#name }] as const);
    await this.browser.open(new URL(signIn, page.url), form);
    return this.begin(link);
  }

  async decide(asked: Page, allow: 'yes' | 'no' = 'yes'): Promise<Page> {
    const grant = /grant=(\S+)/.exec(asked.text)?.[1] ?? '';
    return this.browser.open(new URL('/decide', asked.url), { grant, allow });
  }

  async link(url: string | URL, allow: 'yes' | 'no' = 'yes'): Promise<Page> {
    return this.decide(await this.begin(url), allow);
  }
}
