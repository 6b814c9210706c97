/** A table for a terminal: as many of its columns as fit, their cells wrapped. */
import { columns, printable, wrap } from './printable.ts';

/** A table of more columns than fit at these widths loses the last ones. The first column names its row. */
const [NARROWEST_NAME, NARROWEST] = [24, 12];
const GAP = '  ';

/** A table that was made to fit. */
export interface FittedTable {
  readonly lines: readonly string[];
  /** The headings of the columns that did not fit. */
  readonly left: readonly string[];
}

/** `rows` (the first is the head) in lines of at most `width` columns. */
export function fittedTable(rows: readonly (readonly string[])[], width: number): FittedTable {
  const [head = []] = rows;
  const natural = head.map((_, at) => Math.max(...rows.map((row) => widest(cellOf(row, at)))));
  const shown = head.filter((_, at) => total(floors(natural.slice(0, at + 1))) <= width).length;
  const widths = fit(natural.slice(0, Math.max(shown, 1)), width);
  const lines = rows.flatMap((row, at) => {
    const drawn = drawRow(row, widths);
    return at === 0 ? [...drawn, widths.map((wide) => '─'.repeat(wide)).join(GAP)] : drawn;
  });
  return { lines, left: head.slice(widths.length) };
}

const floors = (natural: readonly number[]): readonly number[] =>
  natural.map((wide, at) => Math.min(wide, at === 0 ? NARROWEST_NAME : NARROWEST));
const total = (widths: readonly number[]): number =>
  widths.reduce((sum, wide) => sum + wide, 0) + GAP.length * (widths.length - 1);

/** Narrows the column that is furthest above its minimum, until all of them fit. */
function fit(natural: readonly number[], width: number): readonly number[] {
  const [widths, least] = [[...natural], floors(natural)];
  while (total(widths) > width && Math.max(...widths) > 1) {
    const spare = widths.map((wide, at) => wide - (least[at] ?? 0));
    const most = Math.max(...spare);
    const at = most > 0 ? spare.indexOf(most) : widths.indexOf(Math.max(...widths));
    widths[at] = (widths[at] ?? 0) - 1;
  }
  return widths;
}

function drawRow(row: readonly string[], widths: readonly number[]): readonly string[] {
  const cells = widths.map((wide, at) => cellOf(row, at).flatMap((line) => wrap(line, wide, Infinity)));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    widths
      .map((wide, at) => {
        const text = cells[at]?.[line] ?? '';
        return text + ' '.repeat(wide - columns(text));
      })
      .join(GAP)
      .trimEnd(),
  );
}

/** A cell of a Markdown table as lines of plain text. */
const cellOf = (row: readonly string[], at: number): readonly string[] =>
  (row[at] ?? '').replaceAll('**', '').split('<br>');

// As it will be drawn: a control character has no width, and the sign that stands for it has one.
const widest = (lines: readonly string[]): number =>
  Math.max(...lines.flatMap((line) => line.split('\n')).map((line) => columns(printable(line))));
