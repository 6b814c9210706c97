/** Requests without a caller. All of them are of one user: each can finish the calls of the others. */
import { bearerAuthChallengeResponse, OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import { OperatorWarning } from '@mrtr/core/events';
import { warnOnce } from '@mrtr/core/internal';
import { countRejection } from './rejections.ts';
import type { OnError } from './server-instance.ts';

const PLACES =
  'The mount reads the caller from `req.auth` of a request of Node (express: `req.auth`; fastify: `request.raw.auth`, not ' +
  '`request.auth`), and from `authInfo` of a web request (hono: `mcp.fetch(c.req.raw, { authInfo })`; Next: ' +
  '`mcp.fetch(request, { authInfo })`). Leave an AuthInfo there, for which your `principal`, if any, returns a text.';

const WARNING =
  'A request was served without a caller, though it carried `Authorization` or a cookie, or its mount has a `principal` or ' +
  'other callers. All requests without a caller are of one user: each can finish the calls of the others. ' +
  `${PLACES} Reject such requests with \`anonymous: 'reject'\`, or say with \`anonymous: 'accept'\` that you mean it.`;

const REJECTION = `A request without a caller was rejected, because of \`anonymous: 'reject'\`. ${PLACES}`;

/**
 * Makes a function that rejects a request without a principal; or warns of it, if it or an earlier one shows that there are
 * users.
 */
export function makeAnonymousGuard(
  rule: 'accept' | 'reject' | undefined,
  hasUsers: boolean,
  report: OnError,
) {
  let sawUsers = hasUsers;
  return ({ headers }: Request, principal: string | undefined) => {
    if (principal !== undefined) {
      sawUsers = true;
    } else if (rule === 'reject') {
      report(new OperatorWarning('anonymous_rejected', REJECTION));
      const error = new OAuthError(OAuthErrorCode.InvalidToken, 'No caller was found; sign in');
      return countRejection(bearerAuthChallengeResponse(error), 'http_unauthorized');
    } else if (rule === undefined && (sawUsers || headers.has('authorization') || headers.has('cookie')))
      warnOnce('MRTR_ANONYMOUS', WARNING);
    return undefined;
  };
}
