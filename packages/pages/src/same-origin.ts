/**
 * Whether a browser sent `request` from a page of `origin`, your site's public address. Check it before you accept a form
 * that changes something: with cookies alone, any site can send one in its visitor's name.
 *
 * @see Fetch Metadata Request Headers, and RFC 6454 for `Origin`.
 * @example if (!isSameOrigin(request, 'https://shop.example')) return new Response('No.', { status: 403 });
 */
export function isSameOrigin({ headers }: Request, origin: string): boolean {
  const [site, from] = [headers.get('sec-fetch-site'), headers.get('origin')];
  if (site !== null && site !== 'same-origin') return false;
  return from === null ? site !== null : from === origin;
}
