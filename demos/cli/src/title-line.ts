/** The first line of every command: printed before anything is loaded that measures text. */
import { type Paint, plain } from './paint.ts';

/** No line is wider. */
export const WIDTH = 80;

/** A title, and at the other edge of the drawing what it was run on. */
export function titleLine(left: string, right: string, paint: Paint = plain): string {
  if (right === '') return ` ${paint('title', left)}`;
  const gap = ' '.repeat(Math.max(1, WIDTH - 2 - left.length - right.length));
  return ` ${paint('title', left)}${gap}${paint('quiet', right)}`;
}
