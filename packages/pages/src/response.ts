/** Responses for browsers. */
import { hash } from 'node:crypto';
import { escapeHidden } from '@mrtr/core/internal';

const WORDS: Readonly<Record<number, string>> = {
  200: 'Done. You can close this page, and go back to where you came from.',
  303: 'Redirecting.',
  400: 'This form lacks its button. Open the link again.',
  401: 'Sign in to this site first, and open the link again.',
  403: 'This request came from another site. Open the link again and continue from there.',
  404: 'This link does not work, or has expired. Go back to where you got it and ask for a new one.',
  405: 'Open this page with its link; it accepts nothing else.',
  500: 'Something went wrong here. Open the link again.',
};

/** A page of one sentence. It never contains a part of a request. */
export function page(
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
  // The address holds the id or a code, which the next page must not learn.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** The start page: the user's account, the question, and a button. */
export const confirmationPage = (message: string, account: string): Response =>
  htmlPage(
    'Continue?',
    `<p>You were asked:</p>
<blockquote><bdi>${escapeHtml(message)}</bdi></blockquote>
${signedInAs(account)}
<form method="post"><button>Continue as ${escapeHtml(escapeHidden(account))}</button></form>`,
  );

/** Names the browser's account, so that the user notices a sign-in planted by somebody else. */
export const signedInAs = (account: string) =>
  `<p>You are signed in as <strong><bdi>${escapeHtml(escapeHidden(account))}</bdi></strong>. If that is not your account, or you did not ask
for this, close the page.</p>`;

/** A page of HTML, without scripts, that no other site can frame. */
export function htmlPage(title: string, main: string): Response {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
<main>
${main}
</main>
</html>
`;
  return new Response(html, { headers: { ...SAFE, ...HTML } });
}

const STYLE = `:root { color-scheme: light dark; font: 1.1rem/1.5 system-ui, sans-serif }
main { max-width: 34rem; margin: 12vh auto; padding: 0 1rem; overflow-wrap: anywhere }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 0.25rem solid; white-space: pre-wrap }
button { font: inherit; padding: 0.6rem 1.2rem; max-width: 100%; margin: 0 0.75rem 0.75rem 0 }
dl { display: grid; grid-template-columns: fit-content(40%) minmax(0, 1fr); gap: 0.25rem 1rem }
dt { opacity: 0.75 }
dd { margin: 0 }`;

const HTML = {
  'content-type': 'text/html; charset=utf-8',
  // No form-action: browsers would apply it to the redirect that follows, which leads to another site.
  'content-security-policy': `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; base-uri 'none'; frame-ancestors 'none'`,
  // With 'no-referrer', a browser would not send the Origin of the page with the button.
  'referrer-policy': 'same-origin',
};

/** Escapes text for HTML and for quoted attributes. */
export const escapeHtml = (text: string) => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
