/** Tokens with a bit, a length, a type or a spelling changed. */
import { decode, encode, type Segment, withSegment } from './decode.ts';

/** Tokens up to this length are changed at every position. */
const SHORT = 48;

/** Variants with one bit flipped, in every region. The decoded bytes differ, so none is just another spelling. */
export function bitFlips(token: string, most = 12) {
  const read = decode(token);
  return read.segments.flatMap((segment, at) => {
    const { bytes } = segment;
    return positions(bytes.length, token.length <= SHORT ? bytes.length : most).map((position) => {
      const flipped = Buffer.from(bytes);
      flipped[position] = flip(segment, position);
      const part = read.segments.length > 1 ? ` of part ${at + 1}` : '';
      return {
        label: `the state with a bit flipped in byte ${position + 1}${part}`,
        token: withSegment(read, at, encode(flipped, segment)),
      };
    });
  });
}

/** Flips one bit. In plain text the byte has to stay a character, so a letter becomes its neighbour. */
function flip({ bytes, encoding }: Segment, position: number) {
  const byte = bytes[position] ?? 0;
  if (encoding !== 'plain') return byte ^ (1 << (position % 8));
  return byte < 0x80 ? byte ^ 1 : byte;
}

function positions(length: number, most: number) {
  const sampled = Array.from({ length: Math.min(length, most) }, (_, at) =>
    Math.round((at * (length - 1)) / Math.max(1, Math.min(length, most) - 1)),
  );
  return [...new Set(sampled)];
}

export const HUGE = 'a mebibyte';

export function malform(token: string) {
  const half = token.slice(0, Math.ceil(token.length / 2));
  const all: readonly (readonly [label: string, token: unknown])[] = [
    ['its first half', half === token ? token.slice(1) : half],
    ['all but its last character', token.slice(0, -1)],
    ['the state with more at its end', `${token}AAAA`],
    ['the empty string', ''],
    ['the state twice', `${token}${token}`],
    [HUGE, 'A'.repeat(1024 * 1024)],
    ['"__proto__"', '__proto__'],
    ['"constructor"', 'constructor'],
    ['JSON with __proto__', '{"__proto__":{"confirmed":true,"approved":true}}'],
    ['a NUL', '\u0000'],
    ['a lone surrogate', '\ud800'],
    ['the number 1', 1],
    ['null', null],
    ['true', true],
    ['an object', { token }],
    ['a list', [token]],
  ];
  return all.map(([label, one]) => ({ label, token: one }));
}

/** Variants that spell the same bytes differently: padding, alphabet, spare bits, case, whitespace. */
export function aliases(token: string) {
  const read = decode(token);
  const spelled = read.segments.flatMap((segment, at) =>
    spellings(segment).map(({ label, text }) => ({ label, token: withSegment(read, at, text) })),
  );
  const around = [
    { label: 'a space before it', token: ` ${token}` },
    { label: 'a line break after it', token: `${token}\n` },
  ];
  const seen = new Set([token]);
  return [...spelled, ...around].filter((one) => !seen.has(one.token) && seen.add(one.token));
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

function spellings({ text, encoding }: Segment) {
  if (encoding === 'plain') return [];
  if (encoding === 'hex') {
    const other = text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase();
    return [{ label: 'the other case of its hex digits', text: other }];
  }
  const bare = text.replace(/=+$/, '');
  const rest = text.slice(bare.length);
  const padding = '='.repeat((4 - (bare.length % 4)) % 4);
  const swapped =
    encoding === 'base64'
      ? bare.replace(/\+/g, '-').replace(/\//g, '_')
      : bare.replace(/-/g, '+').replace(/_/g, '/');
  return [
    {
      label: padding === '' ? 'padding that it does not need' : 'its padding on or off',
      text: text === bare ? `${bare}${padding || '='}` : bare,
    },
    { label: 'the other Base64 alphabet', text: swapped },
    { label: 'a space inside', text: `${bare.slice(0, 4)} ${bare.slice(4)}` },
    ...spareBits(bare).map((one) => ({ label: 'its spare bits set', text: `${one}${rest}` })),
  ];
}

/** Changes the bits of the last Base64 character that decoders ignore. */
function spareBits(bare: string) {
  if (bare.length % 4 === 0 || bare.length % 4 === 1) return [];
  const at = ALPHABET.indexOf(bare.slice(-1));
  return at < 0 || at + 1 >= ALPHABET.length || at % 4 === 3
    ? []
    : [`${bare.slice(0, -1)}${ALPHABET[at + 1]}`];
}
