/** The first line of every command, printed before the modules that measure text are loaded. */
import { type Paint, plain } from './paint.ts';

export const WIDTH = 80;

export function titleLine(left: string, right: string, paint: Paint = plain): string {
  if (right === '') return ` ${paint('title', left)}`;
  const gap = ' '.repeat(Math.max(1, WIDTH - 2 - left.length - right.length));
  return ` ${paint('title', left)}${gap}${paint('quiet', right)}`;
}
