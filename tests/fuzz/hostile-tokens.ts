/** Changes that a client can make to its tokens. */
import fc from 'fast-check';

const KINDS = [
  ...([
    'none',
    'other',
    'flip a bit',
    'cut bytes',
    'cut text',
    'drop bytes',
    'append bytes',
    'append text',
  ] as const),
  ...([
    'splice bytes',
    'splice text',
    'swap a part',
    'swap labels',
    'relabel',
    'unlabel',
    'respell',
  ] as const),
  ...(['another version', 'twice', 'insert text', 'another case', 'make up'] as const),
] as const;

/** A change of a token, maybe with a part of another. */
export interface Mutation {
  readonly kind: (typeof KINDS)[number];
  readonly at: number;
  readonly put: string;
}

/** Any change. `at` is a place, as a share of the whole. */
export const anyMutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.oneof(fc.constantFrom('none' as const, 'other' as const), {
    weight: 4,
    arbitrary: fc.constantFrom(...KINDS),
  }),
  at: fc.double({ min: 0, max: 0.999999, noNaN: true }),
  put: fc.oneof(
    fc.constantFrom(
      'A',
      '=',
      '-',
      '_',
      '+',
      '/',
      '.',
      '~',
      ' ',
      '\n',
      '\0',
      '%7E',
      'i1',
      'i2',
      '~i2',
      'і2',
      'v1.',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }),
  ),
});

const PREFIX = 'v1.';
// Key id, nonce, the header's four fields, the whole sealed part, tag. Negative: from the end.
const PARTS: readonly (readonly [number, number])[] = [
  [0, 2],
  [2, 14],
  [14, 15],
  [15, 22],
  [22, 40],
  [14, -16],
  [-16, Number.POSITIVE_INFINITY],
];

/** Whether it needs a second token. */
export const needsOther = ({ kind }: Mutation): boolean =>
  kind === 'other' || kind.startsWith('splice') || kind.startsWith('swap');

/** The token, changed. */
export function mutated({ kind, at, put }: Mutation, token: string, other: string): string {
  const [bytes, label] = parts(token);
  const [otherBytes, otherLabel] = parts(other);
  const place = Math.floor(at * bytes.length);
  const textPlace = Math.floor(at * token.length);
  switch (kind) {
    case 'none':
      return token;
    case 'other':
      return other;
    case 'flip a bit': {
      const flipped = Buffer.from(bytes);
      const bit = Math.floor(at * bytes.length * 8);
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
      return tokenOf(flipped, label);
    }
    case 'cut bytes':
      return tokenOf(bytes.subarray(0, place), label);
    case 'cut text':
      return token.slice(0, textPlace);
    case 'drop bytes':
      return tokenOf(Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + 1)]), label);
    case 'append bytes':
      return tokenOf(Buffer.concat([bytes, Buffer.from(put)]), label);
    case 'append text':
      return token + put;
    case 'splice bytes':
      return tokenOf(Buffer.concat([bytes.subarray(0, place), otherBytes.subarray(place)]), label);
    case 'splice text':
      return token.slice(0, textPlace) + other.slice(textPlace);
    case 'swap a part': {
      const [from, to] = PARTS[Math.floor(at * PARTS.length)] as readonly [number, number];
      const end = to < 0 ? bytes.length + to : to;
      const start = from < 0 ? bytes.length + from : from;
      const part = otherBytes.subarray(
        from,
        to < 0 || to > otherBytes.length ? otherBytes.length + Math.min(to, 0) : to,
      );
      return tokenOf(Buffer.concat([bytes.subarray(0, start), part, bytes.subarray(end)]), label);
    }
    case 'swap labels':
      return tokenOf(bytes, otherLabel);
    case 'relabel':
      return tokenOf(bytes, `~${put}`);
    case 'unlabel':
      return tokenOf(bytes, '');
    case 'respell':
      return respelt(token, at);
    case 'another version':
      return `${put}${token.slice(PREFIX.length)}`;
    case 'twice':
      return token + token;
    case 'insert text':
      return token.slice(0, textPlace) + put + token.slice(textPlace);
    case 'another case': {
      const character = token[textPlace] as string;
      const changed =
        character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase();
      return token.slice(0, textPlace) + changed + token.slice(textPlace + 1);
    }
    case 'make up':
      return PREFIX + Buffer.from(put.repeat(1 + Math.floor(at * 60))).toString('base64url');
  }
}

function parts(token: string): [bytes: Buffer, label: string] {
  const mark = token.indexOf('~');
  const sealed = mark < 0 ? token : token.slice(0, mark);
  return [Buffer.from(sealed.slice(PREFIX.length), 'base64url'), mark < 0 ? '' : token.slice(mark)];
}

const tokenOf = (bytes: Uint8Array, label: string): string =>
  PREFIX + Buffer.from(bytes).toString('base64url') + label;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Another text of the same bytes, as careless decoders see it. */
function respelt(token: string, at: number): string {
  const [, label] = parts(token);
  const sealed = token.slice(0, token.length - label.length);
  const last = ALPHABET.indexOf(sealed.at(-1) ?? 'A');
  const spellings = [
    `${sealed}=${label}`,
    `${sealed}==${label}`,
    `${sealed.replaceAll('-', '+').replaceAll('_', '/')}${label}`,
    ` ${token}`,
    `${token}\n`,
    `${sealed.slice(0, 30)}\n${sealed.slice(30)}${label}`,
    `${sealed.slice(0, 30)}!${sealed.slice(30)}${label}`,
    // The last character's lowest bit is unused, unless the length is a multiple of four.
    sealed.slice(0, -1) + ALPHABET[last ^ 1] + label,
  ];
  return spellings[Math.floor(at * spellings.length)] as string;
}
