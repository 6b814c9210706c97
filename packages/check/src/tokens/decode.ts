/** Reads state tokens from outside: their segments, encodings and JSON. */
import { isObject, parse } from '../wire/json.ts';

type Encoding = 'base64url' | 'base64' | 'hex' | 'plain';

export interface Segment {
  readonly text: string;
  readonly encoding: Encoding;
  readonly bytes: Buffer;
  readonly json?: unknown;
}

export interface Token {
  readonly segments: readonly Segment[];
  readonly separators: readonly string[];
}

const SEPARATOR = /[.:|~$]/g;

/** A token with more segments counts as text: nobody signs so many parts. */
const MAX_SEGMENTS = 64;

/** A limit, because each of many variants is as long as the token. */
const MAX_CHARACTERS = 256 * 1024;

/** Splits a token into segments. Plain JSON is one segment. */
export function decode(token: string): Token {
  if (token.length > MAX_CHARACTERS) throw new RangeError(`its state has ${token.length} characters`);
  if (isStructured(parse(token))) return { segments: [segmentOf(token)], separators: [] };
  const texts = token.split(SEPARATOR, MAX_SEGMENTS + 1);
  if (texts.length > MAX_SEGMENTS) return { segments: [plainSegment(token)], separators: [] };
  return { segments: texts.map(segmentOf), separators: token.match(SEPARATOR) ?? [] };
}

export const joinSegments = ({ separators }: Token, texts: readonly string[]) =>
  texts.map((text, at) => `${text}${separators[at] ?? ''}`).join('');

/** The token with the text of one segment replaced. */
export const withSegment = (read: Token, at: number, text: string) =>
  joinSegments(read, textsWith(read, at, text));

/** The texts of the segments, with one replaced. */
export const textsWith = ({ segments }: Token, at: number, text: string) =>
  segments.map((one) => one.text).with(at, text);

export function encode(bytes: Buffer, { encoding, text }: Pick<Segment, 'encoding' | 'text'>) {
  if (encoding === 'plain') return bytes.toString('utf8');
  if (encoding === 'hex') {
    const digits = bytes.toString('hex');
    return /[A-F]/.test(text) ? digits.toUpperCase() : digits;
  }
  const isPadded = text.endsWith('=') || (encoding === 'base64' && text.length % 4 === 0);
  const bare = bytes.toString(encoding).replace(/=+$/, '');
  return isPadded ? bare.padEnd(Math.ceil(bare.length / 4) * 4, '=') : bare;
}

export const readableParts = (token: string) =>
  decode(token).segments.flatMap((segment) => readableIn(segment) ?? []);

export function readableIn(segment: Segment) {
  if (segment.json !== undefined) return JSON.stringify(segment.json);
  const text = segment.bytes.toString('utf8');
  const words = /^[\p{L}\p{N}\p{P}\p{S}\p{Zs}\r\n\t]+$/u.test(text) && !text.includes('\ufffd');
  const opaque = segment.encoding === 'plain' && /^[\w-]{16,}$/.test(text);
  return words && !opaque && text.length >= 3 && /\p{L}{3}/u.test(text) ? text : undefined;
}

const isStructured = (value: unknown) => isObject(value) || Array.isArray(value);

function segmentOf(text: string): Segment {
  const plain = parse(text);
  if (isStructured(plain)) return { ...plainSegment(text), json: plain };
  for (const encoding of ['hex', 'base64url', 'base64'] as const) {
    const bytes = decodeAs(encoding, text);
    if (!bytes) continue;
    const json = parse(bytes.toString('utf8'));
    // A word such as `Tokyo` is valid Base64 too, so require more evidence before decoding text.
    if (isStructured(json)) return { text, encoding, bytes, json };
    if (encoding === 'hex' ? text.length >= 16 : text.length >= 20 && looksEncoded(text))
      return { text, encoding, bytes };
  }
  return plainSegment(text);
}

const plainSegment = (text: string): Segment => ({ text, encoding: 'plain', bytes: Buffer.from(text) });

const looksEncoded = (text: string) => /[A-Z]/.test(text) && /[a-z]/.test(text) && !/\s/.test(text);

function decodeAs(encoding: 'hex' | 'base64url' | 'base64', text: string) {
  const SHAPES = { hex: /^(?:[0-9a-f]{2})+$/i, base64url: /^[\w-]+=*$/, base64: /^[A-Za-z0-9+/]+=*$/ };
  if (!SHAPES[encoding].test(text) || (encoding !== 'hex' && text.replace(/=+$/, '').length % 4 === 1))
    return undefined;
  return Buffer.from(text, encoding);
}
