/**
 * Seals the data that a store keeps of a call: a reader of its database learns nothing about arguments and answers.
 *
 * A sealed value is key id 2 ‖ nonce 12 ‖ ciphertext ‖ tag 16, AES-256-GCM under a key that seals no tokens. The place
 * is associated data, so a value that was moved to another row or column does not open.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { KeyRing, SealingKey } from './key-ring.ts';

const OVERHEAD_BYTES = 2 + 12 + 16;

/**
 * Seals `plain` for one place in a store.
 *
 * @param place a unique name of this value, for example a call's id and the column. Not secret.
 * @param ring its first key seals.
 */
export function sealAtRest(plain: string, place: string, ring: KeyRing): Buffer {
  const { id, atRest } = ring[0];
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', atRest, nonce).setAAD(Buffer.from(place));
  return Buffer.concat([id, nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/**
 * Opens a value that {@link sealAtRest} sealed for the same place, with any key of the key ring.
 *
 * @returns undefined for a value that was sealed for another place, under another key, or not at all.
 */
export function openAtRest(sealed: Uint8Array, place: string, ring: KeyRing): string | undefined {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  if (bytes.length < OVERHEAD_BYTES) return undefined;
  for (const { id, atRest } of ring) {
    if (!id.equals(bytes.subarray(0, 2))) continue;
    const decipher = createDecipheriv('aes-256-gcm', atRest, bytes.subarray(2, 14), { authTagLength: 16 });
    decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(-16));
    const plain = decipher.update(bytes.subarray(14, -16));
    try {
      decipher.final();
      return plain.toString();
    } catch {
      // Two keys may share an id of two bytes.
    }
  }
  return undefined;
}

/**
 * Derives a secret name from `text`: the same on every instance, and unknown without the key. Each purpose has its own
 * key, so that a user-chosen name cannot produce the token of another purpose.
 */
export function deriveName(purpose: 'form' | 'same call', text: string, key: SealingKey): string {
  const own = createHmac('sha256', key.naming).update(`\0${purpose}`).digest();
  return nameUnder(own, text);
}

/** Derives a pseudonym that a store can count and compare. Equal under one key, it does not reveal `text`. */
export const derivePseudonym = (text: string, key: SealingKey): string => nameUnder(key.naming, text);

const nameUnder = (key: Buffer, text: string): string =>
  createHmac('sha256', key).update(text).digest('base64url').slice(0, 22);
