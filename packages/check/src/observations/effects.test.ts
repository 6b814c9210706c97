import { expect, test } from 'vitest';
import { clipChange } from './effects.ts';

const LONG = 'x'.repeat(80);

test.each([
  ['3', '4', '3 to 4'],
  [undefined, 'a\n b', 'nothing to a b'],
  [
    `${LONG}1, and more`,
    `${LONG}2, and more`,
    `…${'x'.repeat(30)}1, and more to …${'x'.repeat(30)}2, and more`,
  ],
  [LONG, `${LONG}\ny`, `…${'x'.repeat(30)} to …${'x'.repeat(30)} y`],
  [`a${LONG}`, `b${LONG}`, `a${'x'.repeat(59)}… to b${'x'.repeat(59)}…`],
])('of two readings, the part that differs is shown: %#', (before, after, shown) => {
  expect(clipChange(before, after, ' to ')).toBe(shown);
});
