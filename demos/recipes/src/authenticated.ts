/** Users who log in: what one of them was asked, another one cannot answer. */
import { createMcpHandler, requireBearerAuth } from '@modelcontextprotocol/server';
import { protectedServer, requestStatePolicy } from '@mrtr/core';
import { listVerifier, parseTokenList } from '@mrtr/hosting/http';
import { registerDeploy } from './deploy.ts';

// By default a token's issuer, client and subject (`iss` and `sub` of the verifier's `extra`) are the principal.
// Without a subject it is the token itself, and a client that refreshes its token cannot resume its calls.
const policy = requestStatePolicy({
  principal: (ctx) => {
    const { tenant, sub } = ctx.http?.authInfo?.extra ?? {};
    return typeof sub === 'string' ? JSON.stringify([tenant, sub]) : undefined;
  },
});

// A list of tokens is enough for a team's own server; read it from the environment. For others, verify access tokens here,
// with jose for example.
export const verifier = listVerifier(parseTokenList('ada=ada-secret-of-16+,bob=bob-secret-of-16+'));
const authenticate = requireBearerAuth({ verifier });

export const handler = createMcpHandler(() =>
  registerDeploy(protectedServer({ name: 'deployer', version: '1.0.0' }, policy)),
);

/** Answers 401 without a valid token. */
export async function fetch(request: Request): Promise<Response> {
  const authInfo = await authenticate(request);
  return authInfo instanceof Response ? authInfo : handler.fetch(request, { authInfo });
}
