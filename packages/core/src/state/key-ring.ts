/** The keys that request state is sealed with. */
import { hkdfSync, randomBytes } from 'node:crypto';
import { InvalidPolicy } from '../errors.ts';

/** One secret, stretched into what the codec needs of it. */
export interface SealingKey {
  /** Two bytes that name this key in a token. Not secret. */
  readonly id: Buffer;
  /** AES-256 key. */
  readonly cipher: Buffer;
  /** Salts the digest of what a token is bound to. */
  readonly salt: string;
  /** AES-256 key for what a store keeps of calls; never the one that tokens are sealed with. */
  readonly atRest: Buffer;
  /** HMAC key for the names that a store may count and compare by. */
  readonly naming: Buffer;
}

const MIN_SECRET_BYTES = 32;

/**
 * The ring: the first secret seals, all of them open. To rotate with no lost call, put the new secret behind
 * the old one on every instance, then in front, and take the old one away after one TTL.
 *
 * @throws InvalidPolicy for no secret, or one under 32 bytes.
 */
export function keyRing(secrets: readonly (Uint8Array | string)[]): readonly SealingKey[] {
  if (secrets.length === 0) {
    throw new InvalidPolicy(
      'The key ring is empty. Give at least one secret of 32 bytes, or leave `keys` out.',
    );
  }
  return secrets.map((secret, at) => stretch(typeof secret === 'string' ? Buffer.from(secret) : secret, at));
}

/** A ring of one random key: as good as this process lives, and no other instance can open what it seals. */
export const ephemeralRing = (): readonly SealingKey[] => [stretch(randomBytes(MIN_SECRET_BYTES), 0)];

function stretch(secret: Uint8Array, at: number): SealingKey {
  if (secret.byteLength < MIN_SECRET_BYTES) {
    throw new InvalidPolicy(
      `keys[${at}] has ${secret.byteLength} bytes; at least ${MIN_SECRET_BYTES} random ones are needed, ` +
        'for example from `openssl rand -base64 32`.',
    );
  }
  // HKDF reads the secret here and now: what the caller does to its buffer later changes nothing.
  const stretched = Buffer.from(hkdfSync('sha256', secret, '', 'mrtr requestState v1', 50));
  const kept = Buffer.from(hkdfSync('sha256', secret, '', 'mrtr at rest v1', 64));
  return {
    id: stretched.subarray(0, 2),
    cipher: stretched.subarray(2, 34),
    salt: stretched.subarray(34, 50).toString('base64url'),
    atRest: kept.subarray(0, 32),
    naming: kept.subarray(32),
  };
}
