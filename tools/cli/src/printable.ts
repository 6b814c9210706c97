/** Makes foreign text (a tool's name, a question, a result) safe for a terminal, and fits it into a column. */
import { escapeHidden } from '@mrtr/harness/internal';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

/** The columns of a printable text: two for a wide character, none for a combining one. */
export const columns = (text: string): number => stringWidth(text);

/** The text as at most `most` printable lines of at most `width` columns; `…` marks omitted text. */
export function wrap(text: string, width: number, most = 6): readonly string[] {
  const all = text.split('\n').flatMap((paragraph) => breakLines(escapeHidden(paragraph), width));
  if (all.length <= most) return all;
  const [last = ''] = breakLines(all[most - 1] ?? '', width - 1);
  return [...all.slice(0, most - 1), `${last}…`];
}

export const clip = (text: string, width: number): string => wrap(text, width, 1)[0] ?? '';

const breakLines = (text: string, width: number) =>
  lines(text, width, true).flatMap((line) =>
    // A space with a combining mark on it does not count for wrap-ansi: cut such a line between any two characters.
    columns(line) <= width ? line : lines(line, width, false),
  );

const lines = (text: string, width: number, atWords: boolean) =>
  wrapAnsi(text, width, { hard: true, wordWrap: atWords, trim: atWords }).split('\n');
