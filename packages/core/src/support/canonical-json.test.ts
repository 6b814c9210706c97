import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

/** The canonical form of a JSON text's value. */
const canonical = (text: string): string => canonicalJson(JSON.parse(text));

test.each([
  ['the order of keys', '{"b":1,"a":{"d":2,"c":3}}', '{ "a": {"c": 3, "d": 2}, "b": 1 }'],
  ['the form of a number', '[1.0, 1e0, 100e-2, -0, 0.0]', '[1,1,1,0,0]'],
  ['unicode escapes', '{"\\u00e9":"\\ud83d\\ude00\\/"}', '{"é":"😀/"}'],
  ['a key that was given before', '{"a":1,"b":3,"a":2}', '{"a":2,"b":3}'],
  ['the case of an escape', '"\\u00E9\\u000A"', '"\\u00e9\\n"'],
  ['an escaped key', '{"\\u0061":1}', '{"a":1}'],
  ['digits that no double holds', '[9007199254740993, 0.1000000000000000055]', '[9007199254740992, 0.1]'],
  ['the smallest of numbers', '[1e-400, -1e-400]', '[0, 0]'],
  ['white space', ' [ 1 ,\n {"a"\t: null} ] ', '[1,{"a":null}]'],
])('%s of the text does not show', (_what, one, other) => {
  expect(canonical(one)).toBe(canonical(other));
});

test.each([
  ['a number and its text', '1', '"1"'],
  ['null and an absent member', '{"a":null}', '{}'],
  ['an array and an object with its indices', '["a"]', '{"0":"a"}'],
  ['the order of an array', '[1,2]', '[2,1]'],
  ['a nested array and a flat one', '[[1],2]', '[1,2]'],
  ['a composed and a decomposed letter', '"\\u00e9"', '"e\\u0301"'],
  ['the first and the last of equal keys', '{"a":1,"a":2}', '{"a":1}'],
  ['two neighbouring doubles', '9007199254740993', '9007199254740994'],
  ['letters that look the same', '{"a":1}', '{"\\u0430":1}'],
  ['a letter and its full-width form', '"A"', '"\\uff21"'],
  ['a text and the same with a zero byte', '"a"', '"a\\u0000"'],
  ['two lone surrogates', '"\\ud800"', '"\\ud801"'],
  ['a lone surrogate and the replacement character', '"\\ud800"', '"\\ufffd"'],
  ['a key with a quote and two members', '{"a\\":1,\\"b":2}', '{"a":1,"b":2}'],
])('%s differ', (_what, one, other) => {
  expect(canonical(one)).not.toBe(canonical(other));
});

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
  ['a symbol', Symbol('s')],
  ['a bigint', 1n],
  ['NaN', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
  ['a number that overflows', JSON.parse('1e400')],
  ['a bigint inside', { a: [1n] }],
  ['a function inside', [() => {}]],
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
