import { expect, test } from 'vitest';
import { clip, printable, wrap } from './printable.ts';

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
