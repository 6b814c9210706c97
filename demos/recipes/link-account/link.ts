/** Links the question to the calendar: identifies the browser, redirects it, and handles its return. */
import { type PendingInteractionsOptions, pendingInteractions } from '@mrtr/pages';
import type { Calendars, Linked } from './agenda.ts';

/** This server's id at the calendar. It is a public client: PKCE replaces a secret. */
const CLIENT_ID = 'agenda';

/** The settings of a deployment. */
interface LinkSettings extends Omit<PendingInteractionsOptions<Linked>, 'start' | 'finish'> {
  /** The calendar's address. */
  readonly calendar: URL;
}

/** Links calendars. Keeps the links in this process. */
export function calendars({ calendar, ...settings }: LinkSettings): Calendars {
  const tokens = new Map<string, string>();

  const link = pendingInteractions<Linked>({
    ...settings,

    start: ({ state, callbackUrl, codeChallenge }) => {
      const authorize = new URL('/authorize', calendar);
      authorize.search = `${new URLSearchParams({
        response_type: 'code',
        client_id: CLIENT_ID,
        redirect_uri: callbackUrl.href,
        scope: 'events',
        state,
        code_challenge: codeChallenge,
        code_challenge_method: 'S256',
      })}`;
      return authorize;
    },

    finish: async ({ query, callbackUrl, codeVerifier }) => {
      // RFC 9207: another server's code must not be redeemed here.
      if (query.get('iss') !== calendar.origin) throw new Error('The code is not of this calendar.');
      const response = await fetch(new URL('/token', calendar), {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          client_id: CLIENT_ID,
          code: query.get('code') ?? '',
          redirect_uri: callbackUrl.href,
          code_verifier: codeVerifier,
        }),
        signal: AbortSignal.timeout(10_000),
      });
      if (!response.ok) throw new Error(`The calendar redeemed no code: ${response.status}.`);
      const { access_token, account } = (await response.json()) as { access_token: string; account: string };
      // Keep the token here: the client and its model learn only the account's name.
      tokens.set(account, access_token);
      return { account };
    },
  });

  const eventsOf = async (account: string): Promise<string> => {
    const authorization = `Bearer ${tokens.get(account)}`;
    const response = await fetch(new URL('/events', calendar), { headers: { authorization } });
    if (!response.ok) throw new Error('The calendar is not linked any more.');
    return response.text();
  };
  return { link, eventsOf };
}
