/** JSON that no honest client would send: names of prototypes, look-alike letters, deep and huge values. */
import fc from 'fast-check';

const KEYS = [
  ...'__proto__ constructor prototype toString valueOf hasOwnProperty __defineGetter__ toJSON'.split(' '),
  ...['then', 'length', '', '0', '-1', 'null', 'undefined'],
  ...'units resolution original action content method result requestState roots role'.split(' '),
  ...'é e\u0301 ünits u\u0000nits \u202estinu \ufeffunits \ud800 \udc00 😀 \u0130 ı'.split(' '),
];

export const hostileKey = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...KEYS) },
  fc.string({ unit: 'binary', maxLength: 8 }),
);

export const hostileText = fc.oneof(
  fc.constantFrom(...KEYS),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.array(fc.nat(0xffff), { maxLength: 6 }).map((units) => String.fromCharCode(...units)),
);

// From entries and not by assignment, so that `__proto__` is a member, as in the output of JSON.parse.
const record = <T>(value: fc.Arbitrary<T>) =>
  fc.array(fc.tuple(hostileKey, value), { maxLength: 4 }).map((entries) => Object.fromEntries(entries));

const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(null, true, false, 0, 1, -1, 2 ** 53, 1e308, '', '1', 'metric', 'Duplicate'),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    hostileText,
    fc.array(tie('json'), { maxLength: 3 }),
    record(tie('json')),
  ),
}));

export const hostileJson = json as fc.Arbitrary<unknown>;

export const hostileRecord = record(hostileJson);

const nested = (levels: number, list: boolean): unknown => {
  let value: unknown = 'end';
  for (let level = 0; level < levels; level++) value = list ? [value] : { a: value };
  return value;
};

/** Values that are too deep or too large, or nearly. Built from a description, so that a counterexample is readable. */
export const outsized = fc
  .oneof(
    fc.record({ levels: fc.constantFrom(150, 197, 198, 199, 200, 201, 300), list: fc.boolean() }),
    fc.record({
      length: fc.constantFrom(16_000, 16_300, 16_384, 17_000, 200_000),
      letter: fc.constantFrom('x', '€'),
    }),
  )
  .map((what) => ('levels' in what ? nested(what.levels, what.list) : what.letter.repeat(what.length)));
