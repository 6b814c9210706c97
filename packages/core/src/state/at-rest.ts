/**
 * Seals the data that a store keeps of a call: a reader of its database learns nothing about arguments and answers.
 *
 * A value is sealed under a key that seals no tokens. The place is associated data, so a value that was moved to another
 * row or column does not open.
 */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { KeyRing, SealingKey } from './key-ring.ts';
import { namesKey, OVERHEAD_BYTES, openBytes, sealBytes } from './sealed-bytes.ts';

/**
 * Seals `plain` for one place in a store.
 *
 * @param place a unique name of this value, for example a call's id and the column. Not secret.
 * @param ring its first key seals.
 */
export function sealAtRest(plain: string, place: string, ring: KeyRing): Buffer {
  const { id, atRest } = ring[0];
  return sealBytes(Buffer.from(plain), atRest, id, Buffer.from(place));
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
    const plain = namesKey(bytes, id) ? openBytes(bytes, atRest, Buffer.from(place)) : undefined;
    if (plain) return plain.toString();
  }
  return undefined;
}

/**
 * Derives a secret name from `text`: the same on every instance, and unknown without the key. Each purpose has its own
 * key, so that a user-chosen name cannot produce the token of another purpose.
 */
export function deriveName(purpose: 'form' | 'same call', text: string, key: SealingKey) {
  const own = createHmac('sha256', key.naming).update(`\0${purpose}`).digest();
  return nameUnder(createSecretKey(own), text);
}

/** Derives a pseudonym that a store can count and compare. Equal under one key, it does not reveal `text`. */
export const derivePseudonym = (text: string, key: SealingKey): string => nameUnder(key.naming, text);

const nameUnder = (key: KeyObject, text: string) =>
  createHmac('sha256', key).update(text).digest('base64url').slice(0, 22);
