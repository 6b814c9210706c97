/** Users who log in: one user cannot answer another's question. */
import { protectedServer, requestStatePolicy } from '@mrtr/core';
import { createMcpMount, listVerifier } from '@mrtr/hosting/http';
import { registerDeploy } from './deploy.ts';

// The principal is the token's issuer, client and subject: `iss` and `sub` of the verifier's `extra`. Without a subject, it is
// the token itself: a client that refreshes its token could not resume its calls.
const policy = requestStatePolicy();

// A list of tokens is enough for a team's own server; read it from the environment. For others, verify access tokens here,
// with jose for example.
export const verifier = listVerifier('ada=ada-secret-of-16+,bob=bob-secret-of-16+');

export const served = {
  server: () => registerDeploy(protectedServer({ name: 'deployer', version: '1.0.0' }, policy)),
};

/** Answers 401 without a valid token. A session belongs to the user who began it. */
export const mcp = createMcpMount(served, { verifier });
