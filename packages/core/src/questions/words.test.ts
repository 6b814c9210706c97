import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InvalidOption } from '../support/errors.ts';
import { Words, words } from './words.ts';

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
  ['a note that one does not see', 'A\u{1d159}', '“A\\u{1d159}”'],
  ['an escape', '\\n', '“\\\\n”'],
  ['a bidirectional mark', 'Ada\u202eadA', '“Ada\\u{202e}adA”'],
  ['a zero-width space', 'A\u200bda', '“A\\u{200b}da”'],
  ['a filler that one does not see', 'A\u3164', '“A\\u{3164}”'],
  ['a blank Braille cell', '\u2800', '“\\u{2800}”'],
  ['a lone surrogate', '\ud800', '“\\u{d800}”'],
  ['a gap of spaces', 'Ada   Bob', '“Ada \\u{20}\\u{20}Bob”'],
  ['a no-break space', 'Ada\u00a0Bob', '“Ada\\u{a0}Bob”'],
  ['a mark that combines with ours', '\u0336Ada', '“\\u{336}Ada”'],
  ['a tower of marks', 'a\u0301\u0301\u0301\u0301', '“a\u0301\u0301\\u{301}\\u{301}”'],
  ['letters from right to left', 'אבג', '“\u2066אבג\u2069”'],
  ['an escape between letters from right to left', 'א\u202eב', '“\u2066א\\u{202e}ב\u2069”'],
  ['an emoji', '🙂', '“🙂”'],
])('%s is shown between marks that it cannot forge', (_what, value, text) => {
  expect(show(value)).toBe(`Pay ${text} now?`);
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

test('an object with a text is no Words', () => {
  expect(Words.isWords({ text: 'Pay?' })).toBe(false);
  expect(Words.isWords(words`Pay?`)).toBe(true);
});
