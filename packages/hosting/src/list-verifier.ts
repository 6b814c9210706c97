/** Access tokens from a short list, for a team's own server. Replace it with a real verifier elsewhere. */
import { createHash, timingSafeEqual } from 'node:crypto';
import {
  type AuthInfo,
  OAuthError,
  OAuthErrorCode,
  type OAuthTokenVerifier,
} from '@modelcontextprotocol/server';
import { InvalidOption } from '@mrtr/core';

/**
 * Makes a verifier of the tokens of a list. It compares digests, in constant time.
 *
 * @param list `alice=secret1,bob=secret2`, or one bare secret of the subject `token`. A subject may have several tokens;
 * a token has one subject, who becomes the principal of a call.
 * @throws InvalidOption for a list that is no text, an empty list, an empty subject, a secret of under 16 characters, or a secret of two subjects.
 * @example serveHttp(served, { verifier: listVerifier(process.env.TOKENS ?? '') });
 */
export function listVerifier(list: string): OAuthTokenVerifier {
  const known = holdersIn(list).map(({ subject, token }) => ({ subject, digest: digestOf(token) }));
  return {
    async verifyAccessToken(token): Promise<AuthInfo> {
      const digest = digestOf(token);
      const holder = known.filter((candidate) => timingSafeEqual(candidate.digest, digest))[0];
      if (!holder) throw new OAuthError(OAuthErrorCode.InvalidToken, 'Unknown token');
      // The SDK rejects a token without an expiry, and the list has none: set one that is always ahead.
      const expiresAt = Math.floor(Date.now() / 1000) + 3600;
      return { token, clientId: 'token-list', scopes: [], expiresAt, extra: { sub: holder.subject } };
    },
  };
}

function holdersIn(list: string) {
  if (typeof list !== 'string')
    throw new InvalidOption('listVerifier takes a text: alice=secret1,bob=secret2, or one secret.');
  const holders = list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .map((item) => {
      // A "=" at the end belongs to the secret: base64 pads with it.
      const at = item.search(/=[^=]/);
      return at < 0
        ? { subject: 'token', token: item }
        : { subject: item.slice(0, at).trim(), token: item.slice(at + 1).trim() };
    });
  if (holders.length === 0)
    throw new InvalidOption('The token list is empty. Write subject=secret, or one secret.');
  for (const { subject, token } of holders) {
    if (subject === '') throw new InvalidOption('A token has no subject before its "=".');
    if (token.length < 16)
      throw new InvalidOption(`The token of '${subject}' is under 16 characters: it can be guessed.`);
    const other = holders.find((holder) => holder.token === token && holder.subject !== subject);
    if (other) throw new InvalidOption(`'${subject}' and '${other.subject}' have the same token.`);
  }
  return holders;
}

const digestOf = (token: string) => createHash('sha256').update(token).digest();
