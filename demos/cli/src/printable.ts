/** Text from elsewhere (a tool's name, a question, a result), made fit for a terminal and for a column of it. */
import stringWidth from 'string-width';

// What could move the cursor, colour the rest of the screen, or reorder the line: controls, line separators, the
// bidirectional marks, and halves of a surrogate pair.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** The same text with nothing in it that a terminal would obey: an escape shows as `␛`, and so on. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '␡' : '\ufffd';
  });
}

/** How many columns a printable text takes: two for a wide character, none for a combining one. */
export const columns = (text: string): number => stringWidth(text);

/** The text in lines of at most `width` columns, printable, and no more than `most` of them: then comes `…`. */
export function wrap(text: string, width: number, most = 6): readonly string[] {
  const lines: string[] = [];
  for (const line of broken(text, width)) {
    if (lines.length === most) return [...lines.slice(0, -1), ellipsis(lines.at(-1) ?? '', width)];
    lines.push(line);
  }
  return lines;
}

/** The text in one line of at most `width` columns. */
export function clip(text: string, width: number): string {
  const [line = ''] = wrap(text, width, 1);
  return line;
}

function* broken(text: string, width: number): Generator<string> {
  for (const paragraph of text.split('\n')) {
    let line = '';
    // A space stays with the word before it, and falls off where the line ends.
    for (const word of printable(paragraph).split(/(?<= )/)) {
      if (columns((line + word).trimEnd()) <= width) {
        line += word;
        continue;
      }
      if (line.trim() !== '') yield line.trimEnd();
      line = '';
      for (const piece of pieces(word)) {
        if (columns(line + piece) > width) {
          yield line;
          line = '';
        }
        line += piece;
      }
    }
    yield line.trimEnd();
  }
}

function ellipsis(line: string, width: number): string {
  let kept = '';
  for (const piece of pieces(line)) {
    if (columns(kept + piece) > width - 1) break;
    kept += piece;
  }
  return `${kept.trimEnd()}…`;
}

const graphemes = new Intl.Segmenter();

// Only where a line may break without tearing a character apart.
function* pieces(text: string): Generator<string> {
  for (const { segment } of graphemes.segment(text)) yield segment;
}
