/** The recipe for passkeys in Chromium, with its virtual authenticator. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import { type Bank, impatientPage, openBank } from '../../../../demos/recipes/bank.test-support.ts';
import { type Passkeys, passkeyStepUp } from '../../../../demos/recipes/passkeys.ts';
import { TestBrowser } from './browser.test-support.ts';

const ID = Buffer.from('a-passkey-of-ada');
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
/** The public key as authenticators write it (COSE, RFC 9053): EC2, ES256, P-256. */
const cose = Buffer.concat([
  Buffer.from('a5010203262001215820', 'hex'),
  Buffer.from(x, 'base64url'),
  Buffer.from('225820', 'hex'),
  Buffer.from(y, 'base64url'),
]);

const passkey = { id: ID.toString('base64url'), publicKey: cose, counter: 0 };
const passkeys: Passkeys = {
  of: async (principal) => (principal === 'ada' ? [passkey] : []),
  used: async (_id, counter) => void Object.assign(passkey, { counter }),
};

let browser: TestBrowser;
let bank: Bank;

before(async () => {
  browser = await TestBrowser.open();
  const { verify, page } = passkeyStepUp(() => bank.site(), passkeys, '/approve/callback');
  bank = await openBank(impatientPage({ verify }), [page]);
});
afterEach(() => browser.closePages());
after(async () => {
  await browser?.close();
  await bank?.close();
});

/** Approves in ada's browser, whose authenticator has a passkey with this private key and verifies its user or not. */
async function approveWith(key: typeof privateKey, isUserVerified: boolean) {
  const asked = await bank.pay(120);
  const page = await browser.page({}, { collects: false });
  await page.context().addCookies([{ name: 'user', value: 'ada', url: bank.site().origin }]);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
    },
  });
  await cdp.send('WebAuthn.addCredential', {
    authenticatorId,
    credential: {
      credentialId: ID.toString('base64'),
      isResidentCredential: true,
      rpId: 'localhost',
      privateKey: key.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
      userHandle: Buffer.from('ada').toString('base64'),
      signCount: passkey.counter,
    },
  });
  // A user can make their own browser ask the authenticator for less than the page does.
  if (!isUserVerified) {
    await page.addInitScript(() => {
      const get = navigator.credentials.get.bind(navigator.credentials);
      navigator.credentials.get = ({ publicKey, ...more } = {}) =>
        get({ ...more, ...(publicKey && { publicKey: { ...publicKey, userVerification: 'discouraged' } }) });
    });
  }
  await page.goto(asked.link);
  await page.getByRole('button', { name: 'Pay', exact: true }).click();
  await page.getByRole('heading', { name: 'Confirm with your passkey' }).waitFor();
  assert.equal(await asked.answer(), undefined);
  await page.getByRole('button', { name: 'Use my passkey' }).click();
  const said = await page.getByText(/^(?:Approved|Something went wrong)/).innerText();
  const result = await asked.answer();
  return { said, result };
}

test('the passkey of the user proves it, and the receipt’s assurance says so', async () => {
  const { said, result } = await approveWith(privateKey, true);
  assert.match(said, /^Approved/);
  assert.match(result ?? '', /^Paid € 120 to Bob/);
  assert.deepEqual(bank.assurances, ['verified-page']);
  assert.equal(passkey.counter > 0, true);
});

test('a passkey of another key proves nothing', async () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { said, result } = await approveWith(other.privateKey, true);
  assert.match(said, /^Something went wrong/);
  assert.equal(result, undefined);
});

test('a person whom the authenticator does not verify proves nothing', async () => {
  const { said, result } = await approveWith(privateKey, false);
  assert.match(said, /^Something went wrong/);
  assert.equal(result, undefined);
});
