/** The tool's site: the MCP server, the two pages, and a place where browsers sign in. And the calendar beside it. */
import { randomBytes } from 'node:crypto';
import type { McpServer, RequestStatePolicy } from '@mrtr/core';
import { type HttpHosting, listVerifier, type PageSet, serveHttp } from '@mrtr/hosting/http';
import { isSameOrigin } from '@mrtr/pages';
import type { Calendars } from './agenda.ts';
import { Calendar } from './calendar.ts';
import { CLIENT_ID, calendars, type LinkSettings } from './link.ts';
import { SECRETS } from './users.ts';

const HOLDERS = Object.entries(SECRETS).map(([subject, token]) => ({ subject, token }));

export type CreateServer = (policy: RequestStatePolicy, calendars: Calendars) => McpServer;

export type SiteSettings = Partial<Pick<LinkSettings, 'ttlSeconds' | 'waitSeconds' | 'store' | 'onerror'>>;

export interface Site {
  readonly url: URL;
  readonly calendar: Calendar;
  readonly calendars: Calendars;
  close(): Promise<void>;
}

export async function startSite(
  createServer: CreateServer,
  state: RequestStatePolicy,
  settings: SiteSettings = {},
): Promise<Site> {
  // The caller's name as the browser's session has it. The default holds the MCP client's id, which no browser knows.
  const policy = state.with({ principal: ({ http }) => http?.authInfo?.extra?.sub as string | undefined });
  const calendar = new Calendar();
  await calendar.start();
  let hosting: HttpHosting | undefined;
  const sessions = new Sessions(() => new URL(hosting?.url ?? '').origin);
  const made = calendars({
    ...settings,
    policy,
    calendar: calendar.url,
    url: () => new URL('/link', hosting?.url),
    identifyBrowser: (request) => sessions.userOf(request),
  });
  hosting = await serveHttp(
    { server: () => createServer(policy, made) },
    { verifier: listVerifier(HOLDERS), pages: [made.link, sessions], drainSeconds: 1 },
  );
  calendar.registered.set(CLIENT_ID, new URL('/link/callback', hosting.url).href);
  const { url } = hosting;
  return {
    url,
    calendar,
    calendars: made,
    close: async () => {
      await hosting?.close();
      await calendar.close();
    },
  };
}

class Sessions implements PageSet {
  readonly path = '/account';
  readonly #users = new Map<string, string>();
  readonly #origin: () => string;

  constructor(origin: () => string) {
    this.#origin = origin;
  }

  async fetch(request: Request): Promise<Response> {
    // Another site must not sign a browser in: its user would link an account of theirs to somebody else's call.
    if (!isSameOrigin(request, this.#origin()))
      return new Response('Sign in on this site.\n', { status: 403 });
    const form = new URLSearchParams(await request.text());
    const holder = HOLDERS.find(({ token }) => token === form.get('secret'));
    if (!holder) return new Response('Sign in with your secret.\n', { status: 401 });
    const session = randomBytes(16).toString('base64url');
    this.#users.set(session, holder.subject);
    const cookie = `session=${session}; HttpOnly; SameSite=Lax; Path=/`;
    return new Response('Signed in.\n', { headers: { 'set-cookie': cookie } });
  }

  userOf({ headers }: Request): string | undefined {
    const session = /(?:^|; )session=([^;]+)/.exec(headers.get('cookie') ?? '')?.[1];
    return this.#users.get(session ?? '');
  }
}
