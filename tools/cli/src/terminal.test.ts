import { expect, test } from 'vitest';
import { clip, columns, wrap } from './terminal.ts';

test('words stay whole if they fit, and omitted text is marked', () => {
  expect(wrap('one two three', 8)).toEqual(['one two', 'three']);
  expect(wrap('abcdefghijkl mn', 8)).toEqual(['abcdefgh', 'ijkl mn']);
  expect(wrap('長長長長長', 8)).toEqual(['長長長長', '長']);
  expect(wrap('one two three four', 8, 2)).toEqual(['one two', 'three…']);
  expect(clip('one two three', 8)).toBe('one two…');
  expect(wrap('', 8)).toEqual(['']);
  // A space with a mark on it is no place for wrap-ansi to break a line.
  for (const line of wrap(`a${' \u0301'.repeat(30)}`, 8)) expect(columns(line)).toBeLessThanOrEqual(8);
});
