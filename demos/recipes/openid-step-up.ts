/** A fresh sign-in at an OpenID provider as the second proof of an approval. */
import { hash } from 'node:crypto';
import type { StepUp } from '@mrtr/pages';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  enableNonRepudiationChecks,
} from 'openid-client';

/**
 * `provider` is what `discovery` of `openid-client` gives. The principal is the subject at this provider.
 *
 *     const provider = await discovery(new URL('https://login.example'), 'my-client-id', clientSecret);
 *     const page = approvalPage({ policy, url, identifyBrowser, verify: openidStepUp(provider) });
 */
export function openidStepUp(provider: Configuration): StepUp {
  // Without this the client trusts TLS, and does not verify the signature.
  enableNonRepudiationChecks(provider);
  return {
    start: ({ callbackUrl, state, codeChallenge, principal }) =>
      buildAuthorizationUrl(provider, {
        redirect_uri: callbackUrl.href,
        scope: 'openid',
        state,
        nonce: codeChallenge,
        code_challenge: codeChallenge,
        code_challenge_method: 'S256',
        max_age: '0',
        login_hint: principal,
      }),

    // The browser could have removed max_age from that address. So `auth_time` is compared, with the client's tolerance.
    finish: async ({ callbackUrl, query, codeVerifier, principal }) => {
      const tokens = await authorizationCodeGrant(provider, new URL(`?${query}`, callbackUrl), {
        pkceCodeVerifier: codeVerifier,
        expectedState: query.get('state') ?? '',
        expectedNonce: hash('sha256', codeVerifier, 'base64url'),
        maxAge: 0,
        idTokenExpected: true,
      });
      return tokens.claims()?.sub === principal;
    },
  };
}
