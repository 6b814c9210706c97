/** JSON that no honest client would send: names of prototypes, look-alike letters, odd numbers. */
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
