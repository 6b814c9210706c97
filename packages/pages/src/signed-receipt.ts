/** Receipts for somebody who does not trust your database: a compact JWS, with a key of yours. */
import type { Receipt } from '@mrtr/core';
import { canonicalJson } from '@mrtr/core/kit';
import {
  CompactSign,
  type CompactVerifyGetKey,
  type CryptoKey,
  compactVerify,
  type JWK,
  type KeyObject,
} from 'jose';

const TYPE = 'mrtr-receipt+json';

/** A key as `jose` takes it. */
export type ReceiptKey = CryptoKey | KeyObject | JWK | Uint8Array;

/**
 * Signs a receipt. It says that your server issued it, and no more than the receipt's rung proves.
 *
 * @param header `alg` of the key, for example `EdDSA`, and its `kid`, if verifiers choose by it.
 * @returns a compact JWS (RFC 7515); its payload is the receipt as JSON, its `typ` is `mrtr-receipt+json`.
 * @example const jws = await signReceipt(receipt, privateKey, { alg: 'EdDSA', kid: '2026' });
 */
export const signReceipt = (
  receipt: Receipt,
  key: ReceiptKey,
  header: { readonly alg: string; readonly kid?: string },
): Promise<string> =>
  new CompactSign(new TextEncoder().encode(canonicalJson(receipt)))
    .setProtectedHeader({ ...header, typ: TYPE })
    .sign(key);

/**
 * Verifies what {@link signReceipt} made.
 *
 * @param key the public key, or a function that gives it, such as `createRemoteJWKSet` of `jose`.
 * @throws the errors of `jose` for a signature that does not hold, and TypeError for a JWS that is no receipt.
 * @example const { words, answeredAt } = await verifyReceipt(jws, publicKey);
 */
export async function verifyReceipt(jws: string, key: ReceiptKey | CompactVerifyGetKey): Promise<Receipt> {
  const { payload, protectedHeader } = await compactVerify(jws, key as CompactVerifyGetKey);
  if (protectedHeader.typ !== TYPE) throw new TypeError(`This is no receipt: its typ must be ${TYPE}.`);
  return JSON.parse(new TextDecoder().decode(payload));
}
