/** A passkey as the second proof of an approval. Its challenge comes from the page, so nothing else is kept for it. */
import { hash } from 'node:crypto';
import type { StepUp } from '@mrtr/pages';
import { verifyAuthenticationResponse, type WebAuthnCredential } from '@simplewebauthn/server';

/** The passkeys that your site has registered. */
export interface Passkeys {
  of(principal: string): Promise<readonly WebAuthnCredential[]>;
  /** Keeps the new counter of a passkey that was used. */
  used(id: string, counter: number): Promise<void>;
}

/**
 * `verify` is for `approvalPage`, and `page` goes beside it:
 *
 *     const passkey = passkeyStepUp(() => new URL('https://shop.example'), passkeys, '/approve/callback');
 *     const page = approvalPage({ policy, url: 'https://shop.example/approve', identifyBrowser, verify: passkey.verify });
 *     await serveHttp(served, { pages: [page, passkey.page] });
 *
 * @param callback the path that the approval page has below its own: `/approve/callback`.
 */
export function passkeyStepUp(site: () => URL, passkeys: Passkeys, callback: string) {
  const verify: StepUp = {
    async start({ state, codeChallenge, principal }) {
      const url = new URL('/passkey/use', site());
      url.search = `${new URLSearchParams({ state, challenge: codeChallenge })}`;
      for (const { id } of await passkeys.of(principal)) url.searchParams.append('id', id);
      return url;
    },
    async finish({ query, codeVerifier, principal }) {
      const response = JSON.parse(query.get('response') ?? '{}');
      const credential = (await passkeys.of(principal)).find(({ id }) => id === response.id);
      if (!credential) return false;
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response,
        credential,
        expectedChallenge: hash('sha256', codeVerifier, 'base64url'),
        expectedOrigin: site().origin,
        expectedRPID: site().hostname,
        requireUserVerification: true,
      });
      if (verified) await passkeys.used(credential.id, authenticationInfo.newCounter);
      return verified;
    },
  };

  const script = `const asked = new URLSearchParams(location.search);
document.querySelector('button').onclick = async () => {
  const allowCredentials = asked.getAll('id').map((id) => ({ id, type: 'public-key' }));
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON({
    challenge: asked.get('challenge'), rpId: location.hostname, userVerification: 'required', allowCredentials });
  const given = await navigator.credentials.get({ publicKey });
  const query = new URLSearchParams({ state: asked.get('state'), response: JSON.stringify(given) });
  location.assign(${JSON.stringify(callback)} + '?' + query);
};`;
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Confirm with your passkey</title>
<h1>Confirm with your passkey</h1><button>Use my passkey</button><script>${script}</script></html>`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; script-src 'sha256-${hash('sha256', script, 'base64')}'; base-uri 'none'; frame-ancestors 'none'`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  };
  return { verify, page: { path: '/passkey', fetch: async () => new Response(html, { headers }) } };
}
