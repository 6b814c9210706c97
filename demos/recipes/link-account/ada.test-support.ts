/** A user with a browser that keeps cookies and follows redirects. */
import { recordVisit, type User } from '@mrtr/harness';

/** Ada's reaction to the request to open the page. `forgets`: she opens it only the second time. */
export type PageReaction = 'links' | 'forgets' | 'says no there' | 'declines' | 'cancels';

/** Her access token at the MCP server, and her password at the site's own sign-in. */
export const SECRET = 'the-secret-of-ada';

export function ada(does: PageReaction): NonNullable<User['open']> {
  const open = openBrowser();
  let asked = 0;
  return async ({ url }) => {
    if (does === 'declines' || does === 'cancels')
      return { action: does === 'declines' ? 'decline' : 'cancel' };
    asked += 1;
    if (does !== 'forgets' || asked > 1) await link(open, url, does === 'says no there' ? 'no' : 'yes');
    return { action: 'accept' };
  };
}

/** Opens the start page, signs in if needed, presses its button, and decides at the calendar. */
async function link(open: ReturnType<typeof openBrowser>, url: string, allow: 'yes' | 'no'): Promise<void> {
  const start = await open(url);
  if (start.status === 401) {
    await open(new URL('/account/sign-in', url), { secret: SECRET });
    await open(url);
  }
  const calendar = await open(url, {});
  const grant = /grant=(\S+)/.exec(calendar.text)?.[1] ?? '';
  await open(new URL('/decide', calendar.url), { grant, user: 'ada', allow });
}

/** Opens a browser. The function opens an address, or posts `form` to it, and follows redirects. */
function openBrowser() {
  const cookies = new Map<string, string>();
  return async (address: string | URL, form?: Readonly<Record<string, string>>) => {
    let [url, body] = [new URL(address), form && new URLSearchParams(form)];
    for (let hop = 0; hop < 5; hop++) {
      const { origin, href } = url;
      const headers = { cookie: cookies.get(origin) ?? '', ...(body && { origin }) };
      const post = body && { method: 'POST', body };
      const response = await fetch(url, { headers, redirect: 'manual', ...post });
      recordVisit(href, response.status);
      const [cookie] = response.headers.getSetCookie();
      if (cookie) cookies.set(origin, cookie.split(';', 1)[0] ?? '');
      const location = response.headers.get('location');
      if (location === null) return { url, status: response.status, text: await response.text() };
      [url, body] = [new URL(location, url), undefined];
    }
    throw new Error('Too many redirects.');
  };
}
