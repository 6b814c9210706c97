/** The geometry of the drawing: two lifelines, the text between them, and the arrows. */
import { clip, columns, type Paint, type Role, WIDTH, wrap } from './terminal.ts';

const MARGIN = '    ';
const BETWEEN = 64;
const TEXT = BETWEEN - 4;
/** The line beside the lifelines while a person types. It is not on the wire. */
export const ASIDE = `${MARGIN}┆  `;
// The width to the right of the server's lifeline.
const LABEL = WIDTH - MARGIN.length - BETWEEN - 2;

/** Draws single parts, without knowledge of the protocol. While a request is `open`, the server's lifeline is thick. */
export function lifelinesIn(paint: Paint) {
  const row = (left: string, right: string, role: Role, open: boolean) => {
    const gap = ' '.repeat(TEXT - columns(left) - columns(right));
    const paintText = (text: string, as: Role) => (text === '' ? '' : paint(as, text));
    const inside = `${paintText(left, role)}${gap}${paintText(right, left === '' ? role : 'quiet')}`;
    return `${MARGIN}${paint('frame', '│')}  ${inside}  ${paint('frame', open ? '┃' : '│')}`;
  };
  const note = (text: string, role: Role, open: boolean) =>
    wrap(text, TEXT).map((line) => row('', line, role, open));

  return {
    heads: () => `${paint('quiet', '  client')}${' '.repeat(BETWEEN - 6)}${paint('quiet', 'server')}`,
    /** A text at the client's side; `aside` goes to the server's side of the last line, if there is room. */
    text(text: string, role: Role, open: boolean, aside = '') {
      const lines = wrap(text, TEXT);
      const last = lines.length - 1;
      const hasRoom = columns(lines[last] ?? '') + columns(aside) + 2 <= TEXT;
      const rows = lines.map((line, at) => row(line, hasRoom && at === last ? aside : '', role, open));
      return hasRoom || aside === '' ? rows : [...rows, ...note(aside, 'quiet', open)];
    },
    note,
    toServer(label = '') {
      const arrow = paint('frame', `├${'─'.repeat(BETWEEN - 1)}▶┃`);
      return `${MARGIN}${arrow}${label === '' ? '' : ` ${paint('entry', clip(label, LABEL - 1))}`}`;
    },
    lost: (isSent: boolean, open: boolean) => {
      const [left, right] = isSent ? ['├', '│'] : ['│', open ? '┨' : '┤'];
      const half = '─'.repeat(BETWEEN / 2);
      const line = isSent
        ? `${half}✕${' '.repeat(BETWEEN / 2 - 1)}`
        : `${' '.repeat(BETWEEN / 2 - 1)}✕${half}`;
      return `${MARGIN}${paint('frame', left + line + right)}`;
    },
    toClient: (open: boolean) =>
      `${MARGIN}${paint('frame', `│◀${'─'.repeat(BETWEEN - 1)}${open ? '┨' : '┤'}`)}`,
  };
}
