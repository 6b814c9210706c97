/** Escapes a stranger's text for a terminal. The list is that of @mrtr/core, which this package may not import. */
const HIDDEN = [
  '[\\p{C}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}]|(?! )\\p{Zs}',
  '[\\u2800\\u2d7f\\ufffc\\u{1107f}\\u{13441}\\u{13442}\\u{16fe4}\\u{1bc9d}\\u{1bc9e}\\u{1d159}]',
  '[\\u1cd4\\u1ce2-\\u1ce8\\u{10a39}\\u{16af0}-\\u{16af4}\\u{1d167}-\\u{1d169}]',
  '[\\u0315\\u0334-\\u0338\\u035c-\\u0362\\u1dcd\\u1dfc\\u20d2\\u20d3\\u20d8-\\u20da\\u20e5\\u20e6\\u20ea\\u20eb\\p{Me}]',
].join('|');
const EACH_HIDDEN = new RegExp(HIDDEN, 'gu');
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const escapeOne = (one: string) => SHORT[one] ?? `\\u{${one.codePointAt(0)?.toString(16)}}`;

/**
 * Replaces each character that a terminal obeys, or that a reader does not see: controls, line breaks, bidirectional
 * marks, zero-width and unassigned characters, unusual spaces, and marks that cover another character. By default it
 * becomes an escape.
 *
 * @example escapeHidden('pay\u001b[2J\u202e'); // 'pay\\u{1b}[2J\\u{202e}'
 */
export const escapeHidden = (text: string, replace: (hidden: string) => string = escapeOne): string =>
  text.replace(EACH_HIDDEN, (hidden) => replace(hidden));

/** As {@link escapeHidden}, and keeps line breaks. */
export const escapeLines = (text: string): string =>
  escapeHidden(text, (hidden) => (hidden === '\n' ? hidden : escapeOne(hidden)));

/**
 * Serializes to indented JSON of the same value, with hidden characters as `\u` escapes.
 *
 * @example jsonText(['\u202e']); // '[\n  "\\u202e"\n]'
 */
export const jsonText = (value: unknown): string =>
  escapeHidden(JSON.stringify(value, null, 2), (hidden) =>
    hidden === '\n' ? hidden : hidden.replace(/[\s\S]/g, escapeUnit),
  );

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
