import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fittedTable } from './fitted-table.ts';
import { columns } from './printable.ts';

const ROWS = [
  ['Option', 'Handler entered', 'Another instance', 'Old client gets'],
  ['**A** guard-first', '2× / 3×', 'finishes', 'asked<br>or an error'],
];

test('a table that fits is drawn whole, without its Markdown', () => {
  expect(fittedTable(ROWS, 80)).toEqual({
    lines: [
      'Option         Handler entered  Another instance  Old client gets',
      '─────────────  ───────────────  ────────────────  ───────────────',
      'A guard-first  2× / 3×          finishes          asked',
      '                                                  or an error',
    ],
    left: [],
  });
});

test('columns that do not fit are named and left out, and cells of the others are wrapped', () => {
  const { lines, left } = fittedTable(ROWS, 44);
  expect(left).toEqual(['Old client gets']);
  expect(lines[0]).toBe('Option         Handler        Another');
});

test('no line is wider than the terminal, and every column is drawn or named', () => {
  const cell = fc.string({ unit: 'binary', maxLength: 40 });
  fc.assert(
    fc.property(
      fc
        .integer({ min: 1, max: 6 })
        .chain((width) =>
          fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 4 }),
        ),
      fc.integer({ min: 4, max: 120 }),
      (rows, width) => {
        const { lines, left } = fittedTable(rows, width);
        for (const line of lines) expect(columns(line)).toBeLessThanOrEqual(width);
        expect(left).toEqual(rows[0]?.slice(rows[0].length - left.length));
        expect(left.length).toBeLessThan(rows[0]?.length ?? 0);
      },
    ),
    { examples: [[[['\0', '', '', '', '']], 4]] },
  );
});
