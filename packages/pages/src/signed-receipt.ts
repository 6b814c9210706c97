/** Signed receipts, for readers who trust your key but not your database: a compact JWS. */
import { InvalidOption, type Receipt } from '@mrtr/core';
import { canonicalJson } from '@mrtr/core/internal';
import {
  CompactSign,
  type CompactVerifyGetKey,
  type CryptoKey,
  compactVerify,
  type JWK,
  type KeyObject,
} from 'jose';

const TYPE = 'mrtr-receipt+json';

/** A key that `jose` accepts. */
type ReceiptKey = CryptoKey | KeyObject | JWK | Uint8Array;

/**
 * Signs a receipt. The signature proves that the holder of the key signed these fields; it does not raise the assurance.
 *
 * @param header the `alg` of the key, which is asymmetric (`EdDSA`, for example), and its `kid` if verifiers choose by it.
 * @returns a compact JWS (RFC 7515); its payload is the receipt as JSON, its `typ` is `mrtr-receipt+json`.
 * @throws InvalidOption for a shared secret (`HS256`, …): a verifier could also sign.
 * @example const jws = await signReceipt(receipt, privateKey, { alg: 'EdDSA', kid: '2026' });
 */
export async function signReceipt(
  receipt: Receipt,
  key: ReceiptKey,
  header: { readonly alg: string; readonly kid?: string },
): Promise<string> {
  if (header.alg.startsWith('HS'))
    throw new InvalidOption(
      `signReceipt: alg must be of an asymmetric key, such as EdDSA; it is ${header.alg}.`,
    );
  return new CompactSign(new TextEncoder().encode(canonicalJson(receipt)))
    .setProtectedHeader({ ...header, typ: TYPE })
    .sign(key);
}

/**
 * Verifies a receipt of {@link signReceipt}.
 *
 * @param key the public key, or a function that returns it, such as `createRemoteJWKSet` of `jose`.
 * @throws the errors of `jose` for a signature that does not hold, and TypeError for a JWS that is no receipt, or has a shared
 * secret.
 * @example const { words, answeredAt } = await verifyReceipt(jws, publicKey);
 */
export async function verifyReceipt(jws: string, key: ReceiptKey | CompactVerifyGetKey): Promise<Receipt> {
  const { payload, protectedHeader } = await compactVerify(jws, key as CompactVerifyGetKey);
  if (protectedHeader.typ !== TYPE || protectedHeader.alg.startsWith('HS'))
    throw new TypeError(`This is no receipt: its typ must be ${TYPE}, and its key asymmetric.`);
  const receipt = JSON.parse(new TextDecoder().decode(payload));
  const isReceipt =
    TEXTS.every((name) => typeof receipt?.[name] === 'string') &&
    TIMES.every((name) => Number.isSafeInteger(receipt[name]));
  if (!isReceipt) throw new TypeError('This is no receipt: it lacks one of its fields.');
  return receipt;
}

const TEXTS = ['id', 'words', 'wordsDigest', 'assurance', 'call', 'tool', 'argumentsDigest'];
const TIMES = ['askedAt', 'answeredAt'];
