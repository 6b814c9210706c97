/** Escapes text from a server for the place where it is shown. */
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { isObject } from '../wire/json.ts';

// Characters that move the cursor, colour the screen or reorder a line; characters that XML forbids; and invisible ones,
// except the two joiners that scripts need.
const UNPRINTABLE =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Noncharacter_Code_Point}\u00ad\u180e\u200b\u2060-\u2064\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Replaces control characters for a terminal: an escape shows as `␛`. */
export const forTerminal = (text: string): string =>
  text.replace(UNPRINTABLE, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '␡' : '\ufffd';
  });

/** Escapes text for HTML and XML. */
export const forMarkup = (text: string): string =>
  forTerminalLines(text)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')
    .replace(/'/g, '&#39;')
    .replace(/##/g, '#&#35;')
    .replace(/::/g, ':&#58;');

/** Escapes text for Markdown, on one line. */
export const forMarkdown = (text: string): string =>
  forTerminal(text.replace(/\s+/g, ' '))
    .replace(/[\\`*_{}[\]<>()#+!|~$&]/g, '\\$&')
    .replace(/@/g, '&#64;')
    // GitHub turns addresses into links.
    .replace(/:\/\//g, ':&#47;&#47;')
    .replace(/\bwww\./gi, (www) => `${www.slice(0, -1)}&#46;`);

const forTerminalLines = (text: string): string => text.split('\n').map(forTerminal).join('\n');

/** Escapes text for a terminal and the log of a CI job, which executes `::error::` and `##vso[`. */
export const forLog = (text: string): string =>
  forTerminalLines(text)
    .replace(/::(?=[a-z])/gi, ': :')
    .replace(/##(?=\w*\[)/g, '# #');

/** Changes every string and every key of a JSON value. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change));
  if (!isObject(value)) return value;
  const changed = Object.entries(value).map(([key, one]) => [change(key), mapTexts(one, change)]);
  return Object.fromEntries(changed);
}

/** Replaces control characters in every string of a JSON value. */
export const printable = (value: unknown): unknown => mapTexts(value, forTerminalLines);

/** Serializes to JSON that is safe on a terminal: control characters become escapes, so the value stays the same. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, null, 2)
    .replace(/##/g, '#\\u0023')
    .replace(UNPRINTABLE, (character) =>
      character === '\n'
        ? character
        : character
            .split('')
            .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
            .join(''),
    );

export function wrap(text: string, width: number, most = 20): readonly string[] {
  // Keep indentation; drop the space at a line break.
  const lines = forLog(text)
    .split('\n')
    .flatMap((line) =>
      wrapAnsi(line, width, { hard: true, trim: false })
        .split('\n')
        .map((part, at) => (at === 0 ? part : part.replace(/^ /, '')).trimEnd()),
    );
  return lines.length <= most ? lines : [...lines.slice(0, most - 1), '…'];
}

export function clip(text: string, width: number): string {
  const line = forTerminal(text.replace(/\n/g, ' '));
  if (stringWidth(line) <= width) return line;
  const [kept] = wrapAnsi(line, width - 1, { hard: true, trim: false, wordWrap: false }).split('\n');
  return `${kept}…`;
}

export const pad = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - stringWidth(text)));
