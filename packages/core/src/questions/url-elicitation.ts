/** A question that sends the user to a page. */
import { inputRequired } from '@modelcontextprotocol/server';
import { InvalidOption } from '../errors.ts';
import { aText, requireArgument } from '../options.ts';
import { type ElicitationOptions, readAction, requireElicitationOptions } from './elicitation.ts';
import { type Question, question } from './question.ts';
import { textOf, type Words } from './words.ts';

/**
 * Asks the user to open the page at `url`. The accepted answer is `true`: **the user agreed to open the page**. To
 * learn whether they finished there, use `pendingInteractions` of `@mrtr/pages`.
 *
 * @param message the text that the user reads before they agree. Say which page this is, and what for.
 * @param url `https:`, or `http:` for a page on the same machine. Keep secrets and the user's name out of it: clients
 * show it, log it and pass it on.
 * @param options `fallback`: the answer for a client that cannot open pages, for example `false`.
 * @throws InvalidOption without a message, and for a `url` that is not a web page's, or contains a user name or a
 * password.
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
      // Only the client's action: this question has no fields.
      read: (response) => {
        const answer = readAction(response);
        return answer.kind === 'accepted' ? { kind: 'accepted', value: true } : answer;
      },
      keep: (response) => ({ action: (response as { readonly action: unknown }).action }),
    },
    options.fallback,
  );
}

/**
 * Parses the address of a web page.
 *
 * @throws InvalidOption for any other address, and for one with a user name or a password.
 */
export function parseWebPage(address: string | URL): URL {
  const url = URL.canParse(`${address}`) ? new URL(address) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  // The address may contain a secret, so the message does not repeat it.
  throw new InvalidOption(
    'A page needs a whole address, https://… or http://…, without a user name or a password.',
  );
}
