/** Bars with their goals, as an SVG that reads on a light page and on a dark one. */
import { type Figure, verdictOf } from '../benchmark.ts';
import { shownValue } from './wording.ts';

const ROW = 22;
const TOP = 40;
const LABELS = 330;
const WIDTH = 860;
const COLOURS = { met: '#2f9e44', 'within noise': '#f08c00', missed: '#e03131' } as const;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A chart of the figures that are ratios and have a goal; undefined if there are none. */
export function chart(title: string, figures: readonly Figure[]): string | undefined {
  const rows = figures.filter(({ unit, goal, value }) => unit === '×' && goal && Number.isFinite(value));
  if (rows.length === 0) return undefined;
  const longest = Math.max(1, ...rows.map((row) => Math.max(row.value, limitOf(row)))) * 1.1;
  const x = (value: number) => LABELS + (value / longest) * (WIDTH - LABELS - 70);
  const height = TOP + rows.length * ROW + 12;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    '<style>text{font:12px system-ui,sans-serif;fill:#666}.title{font-size:14px;font-weight:600}</style>',
    `<text class="title" x="8" y="20">${escaped(title)}: bars are measured, black marks are goals</text>`,
    ...rows.map((row, at) => bar(row, TOP + at * ROW, x)),
    '</svg>',
    '',
  ].join('\n');
}

function bar(row: Figure, y: number, x: (value: number) => number): string {
  const { what, value, unit, spread } = row;
  const [low, high] = spread ?? [value, value];
  const middle = y + 8;
  return [
    `<text x="${LABELS - 8}" y="${y + 12}" text-anchor="end">${escaped(what)}</text>`,
    `<rect x="${LABELS}" y="${y}" width="${(x(value) - LABELS).toFixed(1)}" height="16" fill="${COLOURS[verdictOf(row) ?? 'met']}" opacity="0.75"/>`,
    `<line x1="${x(low).toFixed(1)}" x2="${x(high).toFixed(1)}" y1="${middle}" y2="${middle}" stroke="#888" stroke-width="2"/>`,
    `<line x1="${x(limitOf(row)).toFixed(1)}" x2="${x(limitOf(row)).toFixed(1)}" y1="${y - 2}" y2="${y + 18}" stroke="#000" stroke-width="2"/>`,
    `<text x="${(Math.max(x(value), x(limitOf(row))) + 6).toFixed(1)}" y="${y + 12}">${shownValue(value, unit)}</text>`,
  ].join('');
}

const limitOf = ({ goal, value }: Figure): number =>
  goal ? ('most' in goal ? goal.most : goal.least) : value;
