/** Users who log in: one user cannot answer another's question. */
import type { AuthInfo } from '@modelcontextprotocol/server';
import { protectedServer, requestStatePolicy } from '@mrtr/core';
import { createMcpMount, listVerifier, parseTokenList } from '@mrtr/hosting/http';
import { registerDeploy } from './deploy.ts';

// By default a token's issuer, client and subject (`iss` and `sub` of the verifier's `extra`) are the principal.
// Without a subject it is the token itself, and a client that refreshes its token cannot resume its calls.
export const principal = ({ extra: { tenant, sub } = {} }: AuthInfo) =>
  typeof sub === 'string' ? JSON.stringify([tenant, sub]) : undefined;
const policy = requestStatePolicy({ principal: ({ http }) => http?.authInfo && principal(http.authInfo) });

// A list of tokens is enough for a team's own server; read it from the environment. For others, verify access tokens here,
// with jose for example.
export const verifier = listVerifier(parseTokenList('ada=ada-secret-of-16+,bob=bob-secret-of-16+'));

export const served = {
  server: () => registerDeploy(protectedServer({ name: 'deployer', version: '1.0.0' }, policy)),
};

/** Answers 401 without a valid token. A session belongs to the user who began it. */
export const mcp = createMcpMount(served, { verifier, principal });
