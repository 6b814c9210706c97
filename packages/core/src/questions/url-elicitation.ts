/** A question that sends the user to a page. */
import { inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { InvalidOption } from '../support/errors.ts';
import { aText, requireArgument } from '../support/options.ts';
import type { Answer } from './answer.ts';
import { type ElicitationOptions, requireElicitationOptions } from './elicitation.ts';
import { type Question, question } from './question.ts';
import { textOf, type Words } from './words.ts';

/**
 * Asks the user to open the page at `url`. The accepted answer is `true`: **the user agreed to open the page**. It does
 * not say that they finished there; `pendingInteractions` of `@mrtr/pages` does.
 *
 * @param message the text that the user reads before they agree. Say which page this is, and what for.
 * @param url `https:`, or `http:` where nothing leaves the machine. Without a secret and without a name of the user:
 * clients show it, log it and pass it on.
 * @param options `fallback`: the answer for a client that cannot open pages, for example `false`.
 * @throws InvalidOption when there is no message, and when `url` is not one of a web page, or holds a user name or a password.
 * @see MCP 2026-07-28, client/elicitation, URL mode
 * @example const terms = urlElicitation('Read the terms of the shop first.', 'https://shop.example/terms');
 */
export function urlElicitation(
  message: string | Words,
  url: string | URL,
  options: ElicitationOptions<boolean> = {},
): Question<boolean> {
  requireElicitationOptions('urlElicitation', options);
  const text = textOf(message);
  requireArgument('urlElicitation', 'message', text, aText);
  return question<boolean, object>(
    {
      kind: 'elicitation.url',
      message: text,
      request: inputRequired.elicitUrl({ message: text, url: parseWebPage(url).href }),
      read,
      keep: (response) => ({ action: (response as { readonly action: unknown }).action }),
    },
    options.fallback,
  );
}

/**
 * The address of a web page.
 *
 * @throws InvalidOption for any other address, and for one with a user name or a password.
 */
export function parseWebPage(address: string | URL): URL {
  const url = URL.canParse(`${address}`) ? new URL(address) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  // The address may hold a secret, so it is not repeated.
  throw new InvalidOption(
    'A page needs a whole address, https://… or http://…, without a user name or a password.',
  );
}

/** Whatever a client puts beside its action is not read: this question has no fields. */
function read(response: unknown): Answer<boolean> {
  const view = inputResponse({ response }, 'response');
  if (view.kind !== 'elicit') return { kind: 'missing' };
  if (view.action === 'accept') return { kind: 'accepted', value: true };
  return { kind: view.action === 'decline' ? 'declined' : 'cancelled' };
}
