/**
 * Seals and opens request state.
 *
 * A token is `v1.` + base64url(key id 2 ‖ nonce 12 ‖ ciphertext ‖ tag 16), AES-256-GCM with the prefix and the key id
 * as associated data. The plaintext is a header, the questions that were asked, and the author's state in UTF-8:
 *
 *     flags 1 | round 1 | issued at, ms 6 | time to live, s 3 | binding 18 | call id 16 | questions 1
 *     per question: length of the key 2 | key | digest 16 | times asked in a row 1
 *     with the flag for a version: length 1 | version
 *
 * With the flag for answers that did not fit, the upper two bits of the times asked count them. Without it, as in
 * earlier releases, all eight bits are the times asked. A release that does not know the flag reads a larger number there,
 * and only reports it.
 *
 * The nonce is also the token's unique id: GCM never sees one twice under a key.
 *
 * A token may end in `~` and a routing label, in plain text, for a proxy to read. The label is associated data too:
 * changing, adding or removing it invalidates the token.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Rejection } from '../diagnostics/rejection-reasons.ts';
import { InvalidDefinition } from '../errors.ts';
import { BINDING_BYTES, type Binding, differingField, writeBinding } from './binding.ts';
import type { SealingKey } from './key-ring.ts';
import { drawRandom, namesKey, nonceOf, OVERHEAD_BYTES, openBytes, sealBytes } from './sealed-bytes.ts';

/** The content of a token. */
export interface TokenContent {
  /** The call's id, 16 bytes in base64url. */
  readonly callId: string;
  readonly round: number;
  /** The questions that went out with the token, as key → digest. */
  readonly asked: ReadonlyMap<string, string>;
  /** How often in a row each question was asked, this time included. */
  readonly timesAsked: ReadonlyMap<string, number>;
  /** How many answers to each question did not fit, where any did not. At most 3. */
  readonly timesUnfit: ReadonlyMap<string, number>;
  /** Whether the call has given up a question whose answers did not fit. */
  readonly hasGivenUp: boolean;
  /** The author's state; undefined without any. */
  readonly payload: string | undefined;
  /** The version of the author's state, where the policy has one. */
  readonly version: string | undefined;
}

/** An opened token. */
export interface OpenedState extends TokenContent {
  /** The token's unique id. */
  readonly id: string;
  /** When it was sealed, in milliseconds since the epoch. */
  readonly issuedAt: number;
  /** In milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The result of {@link openState}: the content, or the reason why the token is rejected, which is never for the wire. */
export type OpenResult =
  | OpenedState
  | {
      readonly rejected: Rejection;
      /** The call that a genuine token belongs to. */
      readonly callId?: string | undefined;
    };

/** The options of {@link sealState}. */
export interface SealOptions {
  readonly binding: Binding;
  /** In milliseconds since the epoch. */
  readonly issuedAt: number;
  readonly ttlSeconds: number;
  /** The label at the token's end, for the server's own router; see `ShapeNotes`. */
  readonly routingLabel?: string | undefined;
}

/** The longest time to live that the header can hold, in seconds: about 194 days. */
export const MAX_TTL_SECONDS = 0xff_ffff;
/** The most rounds that the header can hold. */
export const MAX_ROUND = 0xfe;
/** The longest key of a question, in bytes. */
export const MAX_KEY_BYTES = 0xffff;
/** The most that two clocks of one deployment may differ, in milliseconds. */
export const CLOCK_SKEW_MS = 60_000;

/**
 * The version of the token format, of the shapes' state in it, and of the stores' sealed values. Every release with
 * `v1.` opens the tokens of all the others; `tests/operations/golden-tokens.test.ts` checks this.
 */
const PREFIX = 'v1.';
const [HAS_PAYLOAD, HAS_VERSION, HAS_UNFIT, HAS_GIVEN_UP] = [1, 2, 4, 8];
/** With {@link HAS_UNFIT}, the bits of a question's last byte that count how often it was asked. */
const TIMES_ASKED = 0x3f;
const UNFIT_SHIFT = 6;
// The plaintext's header.
const TIME_BYTES = 6;
const TTL_BYTES = 3;
const CALL_ID_BYTES = 16;
const FLAGS_AT = 0;
const ROUND_AT = FLAGS_AT + 1;
const TIME_AT = ROUND_AT + 1;
const TTL_AT = TIME_AT + TIME_BYTES;
const BINDING_AT = TTL_AT + TTL_BYTES;
const CALL_ID_AT = BINDING_AT + BINDING_BYTES;
const QUESTIONS_AT = CALL_ID_AT + CALL_ID_BYTES;
const HEADER_BYTES = QUESTIONS_AT + 1;
// Each question after the header.
const KEY_LENGTH_BYTES = 2;
const DIGEST_BYTES = 16;

/** The content that decides a token's length, besides the questions' keys. Their digests all have one length. */
type Measured = Pick<TokenContent, 'payload' | 'version'>;

/** The length of a token with this content and these questions, in characters. */
export const tokenLength = (keys: Iterable<string>, sealed: Measured, routingLabel?: string): number =>
  PREFIX.length +
  Math.ceil(((OVERHEAD_BYTES + plainBytes(keys, sealed)) * 4) / 3) +
  labelSuffix(routingLabel).length;

function plainBytes(keys: Iterable<string>, { payload = '', version }: Measured) {
  let bytes = HEADER_BYTES + Buffer.byteLength(payload);
  for (const key of keys) bytes += KEY_LENGTH_BYTES + Buffer.byteLength(key) + DIGEST_BYTES + 1;
  return version === undefined ? bytes : bytes + 1 + Buffer.byteLength(version);
}

/**
 * Seals `content` under `key`.
 *
 * @throws InvalidDefinition for a routing label that a token cannot carry.
 */
export function sealState(content: TokenContent, options: SealOptions, key: SealingKey) {
  if (options.routingLabel !== undefined && !isRoutingLabel(options.routingLabel)) throw invalidLabelError();
  const label = labelSuffix(options.routingLabel);
  const plain = writeContent(content, options, key);
  const sealed = sealBytes(plain, key.cipher, key.id, associatedData(key, label));
  return PREFIX + sealed.toString('base64url') + label;
}

function writeContent(
  content: TokenContent,
  { binding, issuedAt, ttlSeconds }: SealOptions,
  key: SealingKey,
) {
  const { asked, callId, payload, round, timesAsked, version } = content;
  const plain = Buffer.allocUnsafe(plainBytes(asked.keys(), content));
  const { timesUnfit, hasGivenUp } = content;
  const flags =
    (payload === undefined ? 0 : HAS_PAYLOAD) |
    (version === undefined ? 0 : HAS_VERSION) |
    (timesUnfit.size > 0 ? HAS_UNFIT : 0) |
    (hasGivenUp ? HAS_GIVEN_UP : 0);
  const most = timesUnfit.size > 0 ? TIMES_ASKED : MAX_ROUND;
  plain.writeUInt8(flags, FLAGS_AT);
  plain.writeUInt8(round, ROUND_AT);
  plain.writeUIntBE(issuedAt, TIME_AT, TIME_BYTES);
  plain.writeUIntBE(ttlSeconds, TTL_AT, TTL_BYTES);
  writeBinding(binding, key, plain, BINDING_AT);
  plain.write(callId, CALL_ID_AT, CALL_ID_BYTES, 'base64url');
  plain.writeUInt8(asked.size, QUESTIONS_AT);
  let at = HEADER_BYTES;
  for (const [name, digest] of asked) {
    const bytes = plain.write(name, at + KEY_LENGTH_BYTES);
    at = plain.writeUInt16BE(bytes, at) + bytes;
    at += plain.write(digest, at, DIGEST_BYTES, 'base64url');
    const times = Math.min(timesAsked.get(name) ?? 1, most);
    at = plain.writeUInt8(((timesUnfit.get(name) ?? 0) << UNFIT_SHIFT) | times, at);
  }
  if (version !== undefined)
    at = plain.writeUInt8(plain.write(version, at + 1), at) + Buffer.byteLength(version);
  if (payload !== undefined) plain.write(payload, at);
  return plain;
}

const MALFORMED: Rejection = { reason: 'invalid', detail: 'malformed' };

/** Opens `token` and checks that it belongs to its request. `now` is in milliseconds. */
export function openState(
  token: string,
  binding: Binding,
  now: number,
  ring: readonly SealingKey[],
): OpenResult {
  if (!token.startsWith(PREFIX)) return { rejected: MALFORMED };
  const [sealed, label] = splitLabel(token.slice(PREFIX.length));
  const bytes = Buffer.from(sealed, 'base64url');
  // Node's decoder is lenient, so compare: a token has exactly one accepted spelling.
  if (
    bytes.length < OVERHEAD_BYTES + HEADER_BYTES ||
    bytes.toString('base64url') !== sealed ||
    label === undefined
  )
    return { rejected: MALFORMED };
  let detail = 'unknown_key';
  for (const key of ring) {
    if (!namesKey(bytes, key.id)) continue;
    const plain = openBytes(bytes, key.cipher, associatedData(key, label));
    if (plain) return checkContent(plain, bytes, binding, now, key);
    detail = 'tampered';
  }
  return { rejected: { reason: 'invalid', detail } };
}

function checkContent(
  plain: Buffer,
  token: Buffer,
  binding: Binding,
  now: number,
  key: SealingKey,
): OpenResult {
  const issuedAt = plain.readUIntBE(TIME_AT, TIME_BYTES);
  const expiresAt = issuedAt + plain.readUIntBE(TTL_AT, TTL_BYTES) * 1000;
  const callId = plain.toString('base64url', CALL_ID_AT, QUESTIONS_AT);
  if (issuedAt > now + CLOCK_SKEW_MS)
    return { rejected: { reason: 'invalid', detail: 'issued_in_the_future' }, callId };
  if (now >= expiresAt) return { rejected: { reason: 'expired' }, callId };
  const sealed = plain.subarray(BINDING_AT, CALL_ID_AT);
  writeBinding(binding, key, expected, 0);
  if (!timingSafeEqual(sealed, expected)) {
    const detail = `other_${differingField(sealed, binding)}`;
    return { rejected: { reason: 'wrong_request', detail }, callId };
  }
  return { id: nonceOf(token), issuedAt, expiresAt, ...readContent(plain, callId) };
}

function readContent(plain: Buffer, callId: string): TokenContent {
  const flags = plain.readUInt8(FLAGS_AT);
  const asked = new Map<string, string>();
  const timesAsked = new Map<string, number>();
  const timesUnfit = new Map<string, number>();
  let at = HEADER_BYTES;
  const text = (bytes: number, encoding?: 'base64url') => {
    at += bytes;
    return plain.toString(encoding, at - bytes, at);
  };
  for (let left = plain.readUInt8(QUESTIONS_AT); left > 0; left--) {
    const keyLength = plain.readUInt16BE(at);
    at += KEY_LENGTH_BYTES;
    const key = text(keyLength);
    asked.set(key, text(DIGEST_BYTES, 'base64url'));
    const times = plain.readUInt8(at++);
    timesAsked.set(key, flags & HAS_UNFIT ? times & TIMES_ASKED : times);
    if (flags & HAS_UNFIT && times > TIMES_ASKED) timesUnfit.set(key, times >> UNFIT_SHIFT);
  }
  const version = flags & HAS_VERSION ? text(plain.readUInt8(at++)) : undefined;
  return {
    round: plain.readUInt8(ROUND_AT),
    callId,
    asked,
    timesAsked,
    timesUnfit,
    hasGivenUp: (flags & HAS_GIVEN_UP) > 0,
    version,
    payload: flags & HAS_PAYLOAD ? plain.toString('utf8', at) : undefined,
  };
}

// One shared buffer is safe: there is no `await` between writing and comparing.
const expected = Buffer.alloc(BINDING_BYTES);

const associatedData = (key: SealingKey, label: string) =>
  Buffer.from(`${PREFIX}${key.id.toString('latin1')}${label}`, 'latin1');

const labelSuffix = (routingLabel: string | undefined) => (routingLabel ? `~${routingLabel}` : '');

/** Splits off the routing label: '' without one, `~` and the label, or undefined for an invalid suffix. */
function splitLabel(text: string): [sealed: string, label: string | undefined] {
  const at = text.indexOf('~');
  if (at < 0) return [text, ''];
  return [text.slice(0, at), isRoutingLabel(text.slice(at + 1)) ? text.slice(at) : undefined];
}

/** A random id of a call. */
export const freshId = () => drawRandom(CALL_ID_BYTES).toString('base64url');

// Excludes `~`, which ends the sealed part, and characters with a meaning for proxies, logs or shells.
const LABEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Whether a token can carry `text` as its routing label: 1 to 64 of `A–Z a–z 0–9 . _ -`, a letter or digit first. */
export const isRoutingLabel = (text: string) => LABEL.test(text);

/** The error for an invalid label. Its message leaves out the label, because a handler's error may reach the client. */
export const invalidLabelError = (): InvalidDefinition =>
  new InvalidDefinition(
    'A routing label has 1 to 64 characters of A-Z, a-z, 0-9, ".", "_" and "-", and begins with a letter or a ' +
      'digit. This one does not.',
  );
