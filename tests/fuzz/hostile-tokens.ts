/** Changes that a client can make to its tokens. `codec-adversarial.test.ts` of core tries every bit and each spelling. */
import fc from 'fast-check';

const KINDS = [
  'none',
  'other',
  'flip a bit',
  'cut',
  'append',
  'insert',
  'splice',
  'swap labels',
  'relabel',
  'make up',
] as const;

/** A change of a token, maybe with a part of another. */
export interface Mutation {
  readonly kind: (typeof KINDS)[number];
  readonly at: number;
  readonly put: string;
}

const ODD = ['A', '=', '-', '_', '+', '/', '.', '~', ' ', '\n', '\0', '%7E', 'i1', '~i2', 'і2', 'v1.'];

/** Any change. `at` is a place, as a share of the whole. */
export const anyMutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.oneof(fc.constantFrom('none' as const, 'other' as const), {
    weight: 4,
    arbitrary: fc.constantFrom(...KINDS),
  }),
  at: fc.double({ min: 0, max: 0.999999, noNaN: true }),
  put: fc.oneof(fc.constantFrom(...ODD), fc.string({ unit: 'binary', minLength: 1, maxLength: 4 })),
});

const PREFIX = 'v1.';

export const needsOther = ({ kind }: Mutation): boolean => ['other', 'splice', 'swap labels'].includes(kind);

export function mutated({ kind, at, put }: Mutation, token: string, other: string): string {
  const [sealed, label] = parts(token);
  const [, otherLabel] = parts(other);
  const place = Math.floor(at * token.length);
  const changes: Record<Mutation['kind'], () => string> = {
    none: () => token,
    other: () => other,
    'flip a bit': () => flipped(sealed, at) + label,
    cut: () => token.slice(0, place),
    append: () => token + put,
    insert: () => token.slice(0, place) + put + token.slice(place),
    splice: () => token.slice(0, place) + other.slice(place),
    'swap labels': () => sealed + otherLabel,
    relabel: () => `${sealed}~${put}`,
    'make up': () => PREFIX + Buffer.from(put.repeat(1 + Math.floor(at * 60))).toString('base64url'),
  };
  return changes[kind]();
}

function parts(token: string): [sealed: string, label: string] {
  const mark = token.indexOf('~');
  return mark < 0 ? [token, ''] : [token.slice(0, mark), token.slice(mark)];
}

function flipped(sealed: string, at: number): string {
  const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64url');
  const bit = Math.floor(at * bytes.length * 8);
  bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
  return PREFIX + bytes.toString('base64url');
}
