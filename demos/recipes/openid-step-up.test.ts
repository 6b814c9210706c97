/** The recipe against a provider that speaks the authorization code flow, with real HTTP and signed ID tokens. */
import { hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { allowInsecureRequests, discovery, None } from 'openid-client';
import { expect, onTestFinished, test } from 'vitest';
import { impatientPage, openBank } from './bank.test-support.ts';
import { openidStepUp } from './openid-step-up.ts';

/** A false claim of a faulty provider or an attacker in between. */
interface Fault {
  readonly sub?: string;
  readonly nonce?: string;
  readonly aud?: string;
  readonly iss?: string;
  readonly auth_time?: number;
  readonly otherKey?: boolean;
}

const now = () => Math.floor(Date.now() / 1000);

/** A provider at which ada signs in whenever she is sent there. */
async function startProvider({ otherKey, ...fault }: Fault) {
  const [{ publicKey, privateKey }, other] = [await generateKeyPair('ES256'), await generateKeyPair('ES256')];
  const grants = new Map<string, URLSearchParams>();
  const redeem = async (form: URLSearchParams) => {
    const asked = grants.get(form.get('code') ?? '');
    grants.delete(form.get('code') ?? '');
    const challenge = hash('sha256', form.get('code_verifier') ?? '', 'base64url');
    const isTheirs = asked?.get('redirect_uri') === form.get('redirect_uri');
    if (!asked || !isTheirs || asked.get('code_challenge') !== challenge) return { error: 'invalid_grant' };
    const claims = { iss: issuer, aud: 'bank', sub: 'ada', nonce: asked.get('nonce'), auth_time: now() };
    const id_token = await new SignJWT({ ...claims, ...fault })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(otherKey ? other.privateKey : privateKey);
    return { access_token: 'a', token_type: 'Bearer', id_token };
  };
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', issuer);
    if (pathname === '/authorize') {
      const code = randomBytes(16).toString('base64url');
      grants.set(code, searchParams);
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.search = `${new URLSearchParams({ code, state: searchParams.get('state') ?? '', iss: issuer })}`;
      return void response.writeHead(303, { location: back.href }).end();
    }
    const json =
      pathname === '/token'
        ? await redeem(new URLSearchParams(await text(request)))
        : pathname === '/jwks'
          ? { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', use: 'sig' }] }
          : {
              issuer,
              authorization_endpoint: `${issuer}/authorize`,
              token_endpoint: `${issuer}/token`,
              jwks_uri: `${issuer}/jwks`,
              id_token_signing_alg_values_supported: ['ES256'],
            };
    response
      .writeHead('error' in json ? 400 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(json));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return new URL(issuer);
}

/** A payment that ada approves, signing in at the provider. */
async function approveAt(fault: Fault, change: (authorize: URL) => void = () => {}) {
  const execute = [allowInsecureRequests];
  const provider = await discovery(await startProvider(fault), 'bank', undefined, None(), { execute });
  const errors: string[] = [];
  const onerror = ({ message }: Error) => errors.push(message);
  const bank = await openBank(impatientPage({ verify: openidStepUp(provider), onerror }));
  onTestFinished(() => bank.close());
  const { link, answer } = await bank.pay(120);
  const authorize = new URL((await bank.press(link)).headers.get('location') ?? '');
  change(authorize);
  const back = (await fetch(authorize, { redirect: 'manual' })).headers.get('location') ?? '';
  const { status } = await fetch(back, { headers: { cookie: 'user=ada' } });
  return { authorize, status, result: await answer(), assurances: bank.assurances, errors };
}

test('a fresh sign-in of the same user proves it', async () => {
  const { authorize, status, result, assurances } = await approveAt({});
  expect(status).toBe(200);
  expect(authorize.searchParams.get('max_age')).toBe('0');
  expect(result).toMatch(/^Paid € 120/);
  expect(assurances).toEqual(['verified-page']);
});

test.each<[string, Fault]>([
  ['another user', { sub: 'eve' }],
  ['an old sign-in', { auth_time: now() - 3600 }],
  ['an ID token of another request', { nonce: 'other' }],
  ['an ID token for another client', { aud: 'shop' }],
  ['an ID token of another provider', { iss: 'https://evil.example' }],
  ['a signature of another key', { otherKey: true }],
])('%s proves nothing', async (_what, fault) => {
  const { status, result, errors } = await approveAt(fault);
  expect(status).toBe(500);
  expect(result).toBeUndefined();
  expect(errors).toHaveLength(1);
});

test('a code of another verifier proves nothing', async () => {
  const { status, result } = await approveAt({}, ({ searchParams }) =>
    searchParams.set('code_challenge', 'x'),
  );
  expect([status, result]).toEqual([500, undefined]);
});
