/** The tool's site: the MCP server, its two pages and a sign-in; and the calendar's site. */
import { randomBytes } from 'node:crypto';
import { protectedServer, type RequestStatePolicy } from '@mrtr/core';
import { type HttpHosting, listVerifier, type PageSet, serveHttp } from '@mrtr/hosting/http';
import { isSameOrigin } from '@mrtr/pages';
import { SECRET } from './ada.test-support.ts';
import { AGENDA, type Calendars, type journalTool } from './agenda.ts';
import { startCalendar } from './calendar.test-support.ts';
import { calendars } from './link.ts';

/** Makes the tool on its site. */
export type MakeTool = (calendars: Calendars) => ReturnType<typeof journalTool>;

export async function startSite(makeTool: MakeTool, state: RequestStatePolicy) {
  // The caller's name, as in the browser's session. The default principal contains the MCP client's id, which browsers
  // do not have.
  const policy = state.with({ principal: ({ http }) => http?.authInfo?.extra?.sub as string | undefined });
  const calendar = await startCalendar();
  let hosting: HttpHosting | undefined;
  const sessions = signIn(() => new URL(hosting?.url ?? '').origin);
  const made = calendars({
    policy,
    calendar: calendar.url,
    url: () => new URL('/link', hosting?.url),
    identifyBrowser: (request) => sessions.userOf(request),
    // Ask a forgetful user again soon.
    waitSeconds: 1,
  });
  const tool = makeTool(made);
  const createServer = () => {
    const server = protectedServer({ name: 'agenda', version: '1.0.0' }, policy);
    server.registerTool('agenda', AGENDA, tool);
    return server;
  };
  const verifier = listVerifier(`ada=${SECRET}`);
  const pages = [made.link, sessions];
  hosting = await serveHttp({ server: createServer }, { verifier, pages, drainSeconds: 1 });
  calendar.redirectUri = new URL('/link/callback', hosting.url).href;
  return {
    url: hosting.url,
    close: async () => {
      await hosting?.close();
      await calendar.close();
    },
  };
}

/** The site's own sign-in, and its sessions. */
function signIn(origin: () => string): PageSet & { userOf(request: Request): string | undefined } {
  const known = new Set<string>();
  return {
    path: '/account',
    async fetch(request) {
      // Another site must not sign a browser in: its user would link their own account to somebody else's call.
      if (!isSameOrigin(request, origin())) return new Response('Sign in on this site.\n', { status: 403 });
      const form = new URLSearchParams(await request.text());
      if (form.get('secret') !== SECRET) return new Response('Sign in with your secret.\n', { status: 401 });
      const session = randomBytes(16).toString('base64url');
      known.add(session);
      const cookie = `session=${session}; HttpOnly; SameSite=Lax; Path=/`;
      return new Response('Signed in.\n', { headers: { 'set-cookie': cookie } });
    },
    userOf({ headers }) {
      const session = /(?:^|; )session=([^;]+)/.exec(headers.get('cookie') ?? '')?.[1];
      return known.has(session ?? '') ? 'ada' : undefined;
    },
  };
}
