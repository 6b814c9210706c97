import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clip, columns, printable, wrap } from './printable.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc
    .array(fc.constantFrom('a', ' ', '長', '\n', '\u001b[31m', '👩‍👧', '\u0301', 'longer word '), {
      maxLength: 80,
    })
    .map((parts) => parts.join('')),
);

test('a wrapped text keeps to its width and number of lines, and has no control characters', () => {
  fc.assert(
    fc.property(
      text,
      fc.integer({ min: 8, max: 60 }),
      fc.integer({ min: 1, max: 5 }),
      (given, width, most) => {
        const lines = wrap(given, width, most);
        expect(lines.length).toBeGreaterThan(0);
        expect(lines.length).toBeLessThanOrEqual(most);
        for (const line of lines) {
          expect(columns(line)).toBeLessThanOrEqual(width);
          expect(line).not.toMatch(/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u);
        }
      },
    ),
  );
});

test('words stay whole if they fit, and omitted text is marked', () => {
  expect(wrap('one two three', 8)).toEqual(['one two', 'three']);
  expect(wrap('abcdefghijkl mn', 8)).toEqual(['abcdefgh', 'ijkl mn']);
  expect(wrap('長長長長長', 8)).toEqual(['長長長長', '長']);
  expect(wrap('one two three four', 8, 2)).toEqual(['one two', 'three…']);
  expect(clip('one two three', 8)).toBe('one two…');
  expect(wrap('', 8)).toEqual(['']);
});

test('a control shows as its picture', () => {
  expect(printable('a\u001b[31m\u0000\u007f\u009b\u202eb')).toBe('a␛[31m␀␡\ufffd\ufffdb');
});
