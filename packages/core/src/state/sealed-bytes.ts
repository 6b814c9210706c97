/**
 * Seals bytes with AES-256-GCM, for tokens and for data at rest: key id 2 ‖ nonce 12 ‖ ciphertext ‖ tag 16. Data of its
 * place is associated, so that no sealed value opens elsewhere.
 */
import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from 'node:crypto';

const KEY_ID_BYTES = 2;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHERTEXT_AT = KEY_ID_BYTES + NONCE_BYTES;
/** The bytes that sealing adds. */
export const OVERHEAD_BYTES = CIPHERTEXT_AT + TAG_BYTES;

/** Seals `plain` under `key`, whose name is `id`. */
export function sealBytes(plain: Buffer, key: KeyObject, id: Buffer, associated: Buffer): Buffer {
  const nonce = drawRandom(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(associated);
  return Buffer.concat([id, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Opens at least {@link OVERHEAD_BYTES}; undefined if they were not sealed under `key` with `associated`. */
export function openBytes(sealed: Buffer, key: KeyObject, associated: Buffer): Buffer | undefined {
  const nonce = sealed.subarray(KEY_ID_BYTES, CIPHERTEXT_AT);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(associated).setAuthTag(sealed.subarray(-TAG_BYTES));
  const plain = decipher.update(sealed.subarray(CIPHERTEXT_AT, -TAG_BYTES));
  try {
    decipher.final();
    return plain;
  } catch {
    return undefined;
  }
}

/** Whether sealed bytes name the key `id`. Two keys may share an id. */
export const namesKey = (sealed: Buffer, id: Buffer) => sealed[0] === id[0] && sealed[1] === id[1];

/** The nonce of sealed bytes, as text. GCM never sees one twice under a key. */
export const nonceOf = (sealed: Buffer) => sealed.toString('base64url', KEY_ID_BYTES, CIPHERTEXT_AT);

const pool = Buffer.alloc(4096);
let drawn = pool.length;

/**
 * Random bytes, filled 4 KiB at once: each filling takes as long as one of 12 bytes. No byte is drawn twice. Use them
 * before the next draw, and keep none.
 */
export function drawRandom(bytes: number): Buffer {
  if (drawn + bytes > pool.length) {
    randomFillSync(pool);
    drawn = 0;
  }
  drawn += bytes;
  return pool.subarray(drawn - bytes, drawn);
}
