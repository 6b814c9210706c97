/**
 * Seals request state and opens it again.
 *
 * A token is `v1.` + base64url(key id 2 ‖ nonce 12 ‖ ciphertext ‖ tag 16), AES-256-GCM with the prefix and
 * the key id as associated data. The plaintext is a header of 26 bytes and the payload in UTF-8:
 *
 *     round 1 | issued at, s 4 | time to live, s 3 | binding 18
 *
 * The nonce is also the token's unique id: GCM never sees one twice under a key.
 *
 * A token may end in `~` and a routing label, in the clear, so that a proxy can tell where the call goes on. The
 * label is associated data too: a token opens with exactly the label that it was sealed with, or with none.
 */
import { createCipheriv, createDecipheriv, randomFillSync, timingSafeEqual } from 'node:crypto';
import { BINDING_BYTES, type Binding, mismatch, writeBinding } from './binding.ts';
import type { SealingKey } from './key-ring.ts';
import { checkRoutingLabel, isRoutingLabel } from './routing-label.ts';

/** Why a token was not opened. For the log and the diagnostics channel; never for the wire. */
export type RejectionReason =
  | 'too_large'
  | 'malformed'
  | 'unknown_key'
  | 'tampered'
  | 'issued_in_the_future'
  | 'expired'
  | 'other_target'
  | 'other_audience'
  | 'other_principal'
  | 'other_arguments';

/** What {@link openState} gives: the payload and what was sealed beside it, or the reason why not. */
export type Opened =
  | { readonly payload: string; readonly round: number; readonly id: string; readonly expiresAt: number }
  | { readonly rejected: RejectionReason };

/** What {@link sealState} puts beside the payload. Times are whole seconds. */
export interface Seal {
  readonly binding: Binding;
  readonly round: number;
  readonly issuedAt: number;
  readonly ttlSeconds: number;
  /** What the token ends in, for the server's own router; see `routeBy`. */
  readonly routingLabel?: string | undefined;
}

/** The largest time to live that the header can hold, in seconds: about 194 days. */
export const MAX_TTL_SECONDS = 0xff_ffff;
/** The largest round that the header can hold. */
export const MAX_ROUND = 0xff;
/** How far ahead another instance's clock may be, in seconds. */
export const CLOCK_SKEW_SECONDS = 60;

const PREFIX = 'v1.';
const HEADER_BYTES = 8 + BINDING_BYTES;
const OVERHEAD_BYTES = 2 + 12 + HEADER_BYTES + 16;

/** Characters of the token that seals a payload of `payloadBytes`. */
export const tokenLength = (payloadBytes: number, routingLabel?: string): number =>
  PREFIX.length + Math.ceil(((OVERHEAD_BYTES + payloadBytes) * 4) / 3) + suffix(routingLabel).length;

/**
 * Seals `payload` under `key`.
 *
 * @throws InvalidLabel for a routing label that a token cannot carry.
 */
export function sealState(payload: string, seal: Seal, key: SealingKey): string {
  const plain = Buffer.allocUnsafe(HEADER_BYTES + Buffer.byteLength(payload));
  plain.writeUInt8(seal.round, 0);
  plain.writeUInt32BE(seal.issuedAt, 1);
  plain.writeUIntBE(seal.ttlSeconds, 5, 3);
  writeBinding(seal.binding, key, plain, 8);
  plain.write(payload, HEADER_BYTES);
  const label = seal.routingLabel === undefined ? '' : suffix(checkRoutingLabel(seal.routingLabel));
  const nonce = freshNonce();
  const cipher = createCipheriv('aes-256-gcm', key.cipher, nonce);
  cipher.setAAD(associatedData(key, label));
  const sealed = cipher.update(plain);
  cipher.final();
  return PREFIX + Buffer.concat([key.id, nonce, sealed, cipher.getAuthTag()]).toString('base64url') + label;
}

/** The unique id of a token that {@link sealState} made. */
export const tokenId = (token: string): string =>
  Buffer.from(token.slice(PREFIX.length, PREFIX.length + 20), 'base64url').toString('base64url', 2, 14);

/** Opens `token` and checks every claim in it against the request that carries it. `now` is in seconds. */
export function openState(token: string, binding: Binding, now: number, ring: readonly SealingKey[]): Opened {
  if (!token.startsWith(PREFIX)) return { rejected: 'malformed' };
  const [sealed, label] = splitLabel(token.slice(PREFIX.length));
  const bytes = Buffer.from(sealed, 'base64url');
  // Node's decoder forgives; the comparison leaves exactly one spelling of a token.
  if (bytes.length < OVERHEAD_BYTES || bytes.toString('base64url') !== sealed || label === undefined) {
    return { rejected: 'malformed' };
  }
  let rejected: RejectionReason = 'unknown_key';
  for (const key of ring) {
    if (key.id[0] !== bytes[0] || key.id[1] !== bytes[1]) continue;
    const plain = decrypt(bytes, key, label);
    if (plain) return check(plain, bytes.subarray(2, 14), binding, now, key);
    rejected = 'tampered';
  }
  return { rejected };
}

function decrypt(bytes: Buffer, key: SealingKey, label: string): Buffer | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key.cipher, bytes.subarray(2, 14), { authTagLength: 16 });
  decipher.setAAD(associatedData(key, label));
  decipher.setAuthTag(bytes.subarray(-16));
  const plain = decipher.update(bytes.subarray(14, -16));
  try {
    decipher.final();
    return plain;
  } catch {
    return undefined;
  }
}

function check(plain: Buffer, nonce: Buffer, binding: Binding, now: number, key: SealingKey): Opened {
  const issuedAt = plain.readUInt32BE(1);
  const expiresAt = issuedAt + plain.readUIntBE(5, 3);
  if (issuedAt > now + CLOCK_SKEW_SECONDS) return { rejected: 'issued_in_the_future' };
  if (now >= expiresAt) return { rejected: 'expired' };
  const sealed = plain.subarray(8, HEADER_BYTES);
  writeBinding(binding, key, expected, 0);
  if (!timingSafeEqual(sealed, expected)) return { rejected: mismatch(sealed, binding) };
  return {
    payload: plain.toString('utf8', HEADER_BYTES),
    round: plain.readUInt8(0),
    id: nonce.toString('base64url'),
    expiresAt,
  };
}

// Written and compared within one turn, so one is enough for all.
const expected = Buffer.alloc(BINDING_BYTES);

// The same for all tokens under a key that have no label, which are most.
const unlabelled = new WeakMap<SealingKey, Buffer>();

function associatedData(key: SealingKey, label: string): Buffer {
  const known = label === '' ? unlabelled.get(key) : undefined;
  if (known) return known;
  const data = Buffer.concat([Buffer.from(PREFIX), key.id, Buffer.from(label)]);
  if (label === '') unlabelled.set(key, data);
  return data;
}

const suffix = (routingLabel: string | undefined): string => (routingLabel ? `~${routingLabel}` : '');

/** What was sealed, and the suffix behind it: nothing, or `~` and a label. Undefined for any other suffix. */
function splitLabel(text: string): [sealed: string, label: string | undefined] {
  const at = text.indexOf('~');
  if (at < 0) return [text, ''];
  return [text.slice(0, at), isRoutingLabel(text.slice(at + 1)) ? text.slice(at) : undefined];
}

// One draw from the system costs 2 µs; drawn by the pool it is 0.06 µs a nonce. What comes back is a part of the pool,
// good until the next one is drawn.
const pool = Buffer.alloc(12 * 256);
let drawn = pool.length;

function freshNonce(): Buffer {
  if (drawn === pool.length) {
    randomFillSync(pool);
    drawn = 0;
  }
  drawn += 12;
  return pool.subarray(drawn - 12, drawn);
}
