import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

/** The canonical form of a JSON text's value. */
const canonical = (text: string): string => canonicalJson(JSON.parse(text));

test('keys come in code-unit order', () => {
  expect(canonical('{"é":1,"z":2,"Z":3,"10":4,"9":5,"":6}')).toBe('{"":6,"10":4,"9":5,"Z":3,"z":2,"é":1}');
});

test('a key named __proto__ is a member like any other', () => {
  expect(canonical('{"__proto__":{"a":1},"constructor":2}')).toBe('{"__proto__":{"a":1},"constructor":2}');
  expect(canonical('{"__proto__":{"a":1}}')).not.toBe(canonical('{}'));
});

test('inherited members are left out', () => {
  expect(canonicalJson(Object.create({ a: 1 }))).toBe('{}');
});

test('lone surrogates stay apart in UTF-8, in values and in keys', () => {
  const utf8 = (value: unknown) => Buffer.from(canonicalJson(value)).toString('hex');
  const spellings = ['\ud800', '\ud801', '\udc00', '\ufffd'];
  expect(new Set(spellings.map(utf8)).size).toBe(4);
  expect(new Set(spellings.map((key) => utf8({ [key]: 1 }))).size).toBe(4);
});

test('an undefined member is left out and an undefined item is null, as in JSON.stringify', () => {
  expect(canonicalJson({ a: undefined, b: [undefined, 1] })).toBe('{"b":[null,1]}');
});

test.each([
  ['undefined', undefined],
  ['a function', () => {}],
  ['a bigint', 1n],
  ['NaN', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
  ['a number that overflows', JSON.parse('1e400')],
])('%s is rejected, because it is not JSON', (_what, value) => {
  expect(() => canonicalJson(value)).toThrow(TypeError);
});

const nest = (levels: number, open: string, close: string): unknown =>
  JSON.parse(`${open.repeat(levels)}1${close.repeat(levels)}`);

test.each([
  ['arrays', '[', ']'],
  ['objects', '{"a":', '}'],
])('%s may be nested 200 levels deep and no deeper', (_what, open, close) => {
  expect(canonicalJson(nest(200, open, close))).toBe(`${open.repeat(200)}1${close.repeat(200)}`);
  expect(() => canonicalJson(nest(201, open, close))).toThrow(RangeError);
  expect(() => canonicalJson(nest(5_000, open, close))).toThrow(RangeError);
});

/** The same value with the keys of every object in the opposite order. */
function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, member]) => [key, reverseKeys(member)]));
}

// Any code unit at all, so that keys and texts hold quotes, escapes and lone surrogates.
const anyText = fc.array(fc.nat(0xffff), { maxLength: 6 }).map((units) => String.fromCharCode(...units));
const anyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false, 0, -0, 1, '', '1', '__proto__'),
    fc.double({ noDefaultInfinity: true, noNaN: true }),
    anyText,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom('a', 'b', '__proto__', '0'), anyText), tie('value'), {
      maxKeys: 4,
    }),
  ),
})).value;

test('equal values have equal texts, in any key order and with any white space', () => {
  fc.assert(
    fc.property(anyJson, fc.integer({ min: 0, max: 4 }), (value, indent) => {
      expect(canonical(JSON.stringify(reverseKeys(value), null, indent))).toBe(canonicalJson(value));
    }),
    { numRuns: 300 },
  );
});

test('unequal values have unequal texts, because each text parses back to its value', () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      // Two values with the same text would both be equal to the parsed value.
      const back: unknown = JSON.parse(canonicalJson(value));
      expect(isDeepStrictEqual(back, JSON.parse(JSON.stringify(value)))).toBe(true);
    }),
    { numRuns: 300 },
  );
});
