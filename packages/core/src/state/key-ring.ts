/** The keys that seal request state. */
import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { OperatorWarning } from '../diagnostics/operator-warning.ts';
import { InvalidOption } from '../errors.ts';
import { processWide } from '../process-wide.ts';

/** The keys that are derived from one secret. Node 24 takes five times as long to seal with a key that is a `Buffer`. */
export interface SealingKey {
  /** Two bytes that name this key in a token. Not secret. */
  readonly id: Buffer;
  /** AES-256 key. */
  readonly cipher: KeyObject;
  /** Salts the digest of a token's binding. */
  readonly salt: string;
  /** AES-256 key for data in a store. Tokens are sealed with another key. */
  readonly atRest: KeyObject;
  /** HMAC key for pseudonyms and secret names. */
  readonly naming: KeyObject;
  /** Whether this is the random key of this process; no other instance has it. */
  readonly ephemeral: boolean;
}

/** Secrets of at least 32 bytes each: texts or bytes. The first seals; all open. */
export type Secrets = readonly (Uint8Array | string | undefined)[];

/** At least one key. The first seals; all open. */
export type KeyRing = readonly [SealingKey, ...SealingKey[]];

/** The current keys of a policy. */
export interface Keys {
  readonly ring: KeyRing;
}

const MIN_SECRET_BYTES = 32;

/**
 * Stretches secrets into a key ring. The first key seals; all keys open. To rotate without losing calls, add the new
 * secret behind the old one on every instance, then put it first, and remove the old one after one time to live.
 *
 * @throws InvalidOption for an empty list, a secret under 32 bytes, a secret that comes twice, and any other value that
 * is not a list of secrets (an unset environment variable, for example).
 */
export function keyRing(secrets: Secrets): KeyRing {
  if (!Array.isArray(secrets))
    throw new InvalidOption('`keys` must be a list of secrets: write keys: [secret].');
  if (secrets.length === 0)
    throw new InvalidOption('`keys` is empty. Give at least one secret of 32 bytes, or leave `keys` out.');
  const bytes = secrets.map(secretBytes);
  const twice = bytes.findIndex(
    (one, at) => bytes.findIndex((other) => Buffer.compare(one, other) === 0) < at,
  );
  if (twice >= 0)
    throw new InvalidOption(`keys[${twice}] comes twice in the key ring. Remove one of the two.`);
  return bytes.map((secret) => stretch(secret, false)) as [SealingKey, ...SealingKey[]];
}

/**
 * Reads the keys now and again every `seconds`, until the returned object is garbage. Readings never overlap, and a
 * failed reading changes nothing.
 *
 * @throws the first reading's error, or InvalidOption like {@link keyRing}.
 */
export async function readKeys(
  read: () => Secrets | Promise<Secrets>,
  seconds: number,
  report: (error: Error) => void,
): Promise<Keys> {
  const keys = { ring: keyRing(await read()) };
  const held = new WeakRef(keys);
  const warn = (what: string, options?: ErrorOptions) =>
    report(new OperatorWarning('keys_not_read', `The keys ${what}; the old ones stay.`, options));
  let isReading = false;
  const timer = setInterval(async () => {
    const kept = held.deref();
    if (!kept) return clearInterval(timer);
    if (isReading) return warn('are still being read');
    isReading = true;
    try {
      kept.ring = keyRing(await read());
    } catch (cause) {
      warn('could not be read again', { cause });
    } finally {
      isReading = false;
    }
  }, seconds * 1000);
  timer.unref();
  return keys;
}

function secretBytes(secret: unknown, at: number) {
  const hint = 'Give at least 32 random bytes, for example from `openssl rand -base64 32`.';
  const bytes = typeof secret === 'string' ? Buffer.from(secret) : secret;
  if (!(bytes instanceof Uint8Array)) {
    const got =
      secret === undefined ? 'undefined (is its environment variable set?)' : `of type ${typeof secret}`;
    throw new InvalidOption(`keys[${at}] is ${got}. ${hint}`);
  }
  if (bytes.byteLength < MIN_SECRET_BYTES)
    throw new InvalidOption(`keys[${at}] has ${bytes.byteLength} bytes. ${hint}`);
  return bytes;
}

/**
 * The key ring of this process: one random key, the same for every policy without keys. A policy that is made per
 * request must still open the state of the previous request. No other instance can open it.
 */
export const ephemeralRing = (): KeyRing =>
  processWide<KeyRing>('ephemeral-ring.1', () => [stretch(randomBytes(MIN_SECRET_BYTES), true)]);

function stretch(secret: Uint8Array, ephemeral: boolean): SealingKey {
  // HKDF reads the secret now, so later changes of the caller's buffer have no effect.
  const stretched = Buffer.from(hkdfSync('sha256', secret, '', 'mrtr requestState v1', 50));
  const kept = Buffer.from(hkdfSync('sha256', secret, '', 'mrtr at rest v1', 64));
  return {
    id: stretched.subarray(0, 2),
    cipher: createSecretKey(stretched.subarray(2, 34)),
    salt: stretched.subarray(34, 50).toString('base64url'),
    atRest: createSecretKey(kept.subarray(0, 32)),
    naming: createSecretKey(kept.subarray(32)),
    ephemeral,
  };
}
