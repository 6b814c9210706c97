/** Formats figures as text. */
import { type Figure, type Goal, type Verdict, verdictOf } from '../benchmark.ts';

const MARKS: Readonly<Record<Verdict, string>> = { met: '✓', 'within noise': '≈', missed: '✗' };

/** A value with its unit, rounded to its significant digits. */
export function shownValue(value: number, unit: Figure['unit']): string {
  if (!Number.isFinite(value)) return 'not measured';
  const digits = unit === '×' ? 2 : value < 10 ? 2 : value < 100 ? 1 : 0;
  return `${value.toFixed(unit === '×' && value < 0.1 ? 3 : digits)}${unit === '×' ? '×' : unit && ` ${unit}`}`;
}

/** `≤ 0.65×`. */
export const shownGoal = (goal: Goal, unit: Figure['unit']): string =>
  'most' in goal ? `≤ ${shownValue(goal.most, unit)}` : `≥ ${shownValue(goal.least, unit)}`;

/** `0.55–0.58×`. */
export const shownSpread = ({ spread, unit }: Figure): string =>
  spread ? `${shownValue(spread[0], unit)} – ${shownValue(spread[1], unit)}` : '';

/** One line for the terminal. */
export function shownLine(figure: Figure): string {
  const { what, value, unit, goal, noise } = figure;
  const verdict = verdictOf(figure);
  const parts = [
    `${verdict ? MARKS[verdict] : ' '} ${shownValue(value, unit).padStart(10)}  ${what}`,
    figure.spread && `(${shownSpread(figure)})`,
    goal && `goal ${shownGoal(goal, unit)}`,
    goal && noise !== undefined && `A/A ±${(noise * 100).toFixed(1)} %`,
  ];
  return parts.filter(Boolean).join('  ');
}
