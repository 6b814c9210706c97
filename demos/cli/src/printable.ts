/** Makes foreign text (a tool's name, a question, a result) safe for a terminal, and fits it into a column. */
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

// Characters that could move the cursor, colour the rest of the screen, or reorder the line: controls, line
// separators, the bidirectional marks, and halves of a surrogate pair.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** The same text without control characters for the terminal: an escape shows as `␛`, and so on. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '␡' : '\ufffd';
  });
}

/** The columns of a printable text: two for a wide character, none for a combining one. */
export const columns = (text: string): number => stringWidth(text);

/** The text as at most `most` printable lines of at most `width` columns; `…` marks omitted text. */
export function wrap(text: string, width: number, most = 6): readonly string[] {
  const all = text.split('\n').flatMap((paragraph) => breakLines(printable(paragraph), width));
  if (all.length <= most) return all;
  const [last = ''] = breakLines(all[most - 1] ?? '', width - 1);
  return [...all.slice(0, most - 1), `${last}…`];
}

export const clip = (text: string, width: number): string => wrap(text, width, 1)[0] ?? '';

const breakLines = (text: string, width: number): readonly string[] =>
  lines(text, width, true).flatMap((line) =>
    // A space with a combining mark on it does not count for wrap-ansi: cut such a line between any two characters.
    columns(line) <= width ? line : lines(line, width, false),
  );

const lines = (text: string, width: number, atWords: boolean): readonly string[] =>
  wrapAnsi(text, width, { hard: true, wordWrap: atWords, trim: atWords }).split('\n');
