import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InvalidOption } from '../errors.ts';
import { escapeHidden, words } from './words.ts';

const show = (value: string | number | boolean | bigint): string => words`Pay ${value} now?`.text;

test.each<[string, string | number | boolean | bigint, string]>([
  ['a name', 'Ada', '“Ada”'],
  ['an apostrophe', 'O’Brien & Sons', '“O’Brien & Sons”'],
  ['a number', 12.5, '“12.5”'],
  ['a big integer', 10n, '“10”'],
  ['a truth value', true, '“true”'],
  ['nothing', '', '“”'],
  ['a line break', 'Ada\nApproved by: Bob', '“Ada\\nApproved by: Bob”'],
  ['a closing mark', 'Ada” now? [x] “', '“Ada\\u{201d} now? [x] \\u{201c}”'],
  ['straight quotation marks', '"Ada"', '“\\u{22}Ada\\u{22}”'],
  ['two single marks', 'Ada’’', '“Ada’\\u{2019}”'],
  ['marks of the alphabet’s own', 'Adaʼʼ׳׳', '“Adaʼ\\u{2bc}\\u{5f3}\\u{5f3}”'],
  ['ornaments', 'Ada🙷 🙶', '“Ada\\u{1f677} \\u{1f676}”'],
  ['a mark on a space', 'Ada \u030b', '“Ada \\u{30b}”'],
  ['an escape', '\\n', '“\\\\n”'],
  ['a bidirectional mark', 'Ada\u202eadA', '“Ada\\u{202e}adA”'],
  ['a lone surrogate', '\ud800', '“\\u{d800}”'],
  ['a gap of spaces', 'Ada   Bob', '“Ada \\u{20}\\u{20}Bob”'],
  ['a mark that combines with ours', '\u0336Ada', '“\\u{336}Ada”'],
  ['a tower of marks', 'a\u0301\u0301\u0301\u0301', '“a\u0301\u0301\\u{301}\\u{301}”'],
  ['letters from right to left', 'אבג', '“\u2066אבג\u2069”'],
  ['an escape between letters from right to left', 'א\u202eב', '“\u2066א\\u{202e}ב\u2069”'],
  ['an emoji', '🙂', '“🙂”'],
])('%s is shown between marks that it cannot forge', (_what, value, text) => {
  expect(show(value)).toBe(`Pay ${text} now?`);
});

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

test.each<[string, readonly number[]]>([
  ['controls and line breaks', [...range(0, 0x1f), ...range(0x7f, 0x9f), 0x2028, 0x2029]],
  ['bidirectional controls', [0x61c, 0x200e, 0x200f, ...range(0x202a, 0x202e), ...range(0x2066, 0x2069)]],
  [
    'characters of no width',
    [0xad, 0x34f, ...range(0x200b, 0x200d), ...range(0x2060, 0x2064), 0xfeff, 0x2d7f],
  ],
  ['tag characters', [0xe0001, ...range(0xe0020, 0xe007f)]],
  ['variation selectors', [...range(0x180b, 0x180f), ...range(0xfe00, 0xfe0f), ...range(0xe0100, 0xe01ef)]],
  ['fillers', [0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xffa0, 0x16fe4]],
  ['blanks', [0xa0, 0x1680, ...range(0x2000, 0x200a), 0x202f, 0x205f, 0x2800, 0x3000, 0xfffc, 0x1d159]],
  ['private and unassigned ones', [0xe000, 0xf8ff, 0xfdd0, 0xffff, 0x10fffd]],
  ['marks that strike through', [...range(0x334, 0x338), 0x20d2, 0x1cd4, 0x1ce8, 0x16af4, 0x1d167]],
  ['marks that enclose, or reach over to ours', [0x20dd, 0x20e3, 0x489, 0x315, 0x35c, 0x360]],
])('%s are escaped, in values and in what a page shows', (_what, points) => {
  for (const point of points) {
    const one = String.fromCodePoint(point);
    const inside = show(`a${one}b`).slice('Pay “'.length, -'” now?'.length);
    expect([inside.includes(one), escapeHidden(`a${one}b`).includes(one)]).toEqual([false, false]);
    expect(inside).toMatch(/^a\\(?:[nrt]|u\{[0-9a-f]+\})b$/);
  }
});

test('a tower of marks is escaped, and what a page shows keeps its quotation marks', () => {
  expect(escapeHidden('"a\u0301\u0301\u0301" ’’ \\')).toBe('"a\u0301\u0301\\u{301}" ’’ \\');
});

test.each([...'\u02be\u02bf\u0384\u0559\u055d\u144a\u16cc\u2039\u203a\u275b\u275c\u275f\u2e32\u2e34'])(
  'two of %s are not a double mark',
  (mark) => {
    const escaped = `\\u{${mark.codePointAt(0)?.toString(16)}}`;
    expect(show(`a${mark}${mark}`)).toBe(`Pay “a${mark}${escaped}” now?`);
  },
);

test.each([...'\u1fcd\u1fce\u1fcf\u1fdd\u1fde\u1fdf'])('%s is no pair of marks', (mark) => {
  expect(show(`a${mark}`)).not.toContain(mark);
});

test('a value of more than 200 characters is cut in the middle, and says how much is missing', () => {
  expect(show('a'.repeat(200))).toBe(`Pay “${'a'.repeat(200)}” now?`);
  const whole = `${'a'.repeat(100)}-${'b'.repeat(100)}`;
  const digest = hash('sha256', whole).slice(0, 32);
  const cut = `“${'a'.repeat(90)}” (21 more characters; SHA-256 of all: ${digest}) “${'b'.repeat(90)}”`;
  expect(show(whole)).toBe(`Pay ${cut} now?`);
  expect(show(whole.replace('-', '+'))).not.toBe(show(whole));
});

test('no value holds a mark of ours, a line break or a character of no width', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (value) => {
      const inside = show(value).slice('Pay '.length, -' now?'.length).replaceAll('“\u2066', '“');
      const quotes = [...inside].filter((one) => one === '“' || one === '”').length;
      expect(quotes).toBe([...value].length > 200 ? 4 : 2);
      expect(inside).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u200b-\u200f\u202a-\u202e\u2066\u2067]/u);
    }),
  );
});

test('two different values do not read the same, be they short or cut', () => {
  const text = fc.string({
    unit: fc.constantFrom('\\', 'n', '\n', 'u', '{', '}', 'a', '2', '0', ' '),
    maxLength: 6,
  });
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(show(one) === show(other)).toBe(one === other);
    }),
  );
});

test('words in words are not escaped twice', () => {
  const item = words`the file ${'a"b'}`;
  expect(words`Delete ${item}?`.text).toBe('Delete the file “a\\u{22}b”?');
  expect(`${item}`).toBe(item.text);
});

test.each<[string, unknown, string]>([
  ['undefined', undefined, 'undefined'],
  ['null', null, 'null'],
  ['an object', { text: 'Ada' }, 'object'],
])('rejects %s as a value', (_what, value, kind) => {
  expect(() => words`Pay ${value as string}?`).toThrow(
    new InvalidOption(`words: value 1 must be a text, a number, true or false, or words; it is ${kind}.`),
  );
});

test.each([['Pay now?'], [['Pay ', ' now?']], [Object.assign(['Pay?'], { raw: ['Pay?'] })]])(
  'rejects a call as a function, with %j',
  (strings) => {
    expect(() => words(strings as never, 'Ada')).toThrow(/write it before a template/);
  },
);
