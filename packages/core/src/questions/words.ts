/** Text for users that sets data apart from the author's own words. */
import { hash } from 'node:crypto';
import { HIDDEN } from '../diagnostics/hidden-characters.ts';
import { InvalidOption } from '../errors.ts';

/** The longest value that is shown whole, in characters. */
const LONGEST = 200;
const SHOWN_OF_A_LONG_ONE = 90;

/** A space after a space looks like one space. */
const HIDDEN_IN_WORDS = `${HIDDEN}|(?<= ) `;

/** Single quotation marks: two of them look like a double one. */
const SINGLE = [
  "['`\\u00b4\\u02b9\\u02bb-\\u02bf\\u02c8\\u02ca\\u02cb\\u02f4\\u0374\\u0384\\u0559\\u055a\\u055d\\u05f3\\u07f4\\u07f5\\u144a",
  '\\u16cc\\u1fbd\\u1fbf\\u1fef\\u1ffd\\u1ffe\\u2018-\\u201b\\u2032\\u2039\\u203a\\u275b\\u275c\\u275f\\u2e32\\u2e34\\ua78b\\ua78c',
  '\\uff07\\uff40\\u{16f51}\\u{16f52}]',
].join('');

/** Adds the backslash, which begins an escape, and the marks around a value with their look-alikes. */
const DECEPTIVE = [
  HIDDEN_IN_WORDS,
  '["\\\\\\u201c-\\u201f\\u00ab\\u00bb\\u2033-\\u2037\\u2057\\u02ba\\u02dd\\u02ee\\u02f5\\u02f6\\u05f2\\u05f4\\u1cd3]',
  '[\\u1fcd-\\u1fcf\\u1fdd-\\u1fdf\\u275d\\u275e\\u2760\\u2e42\\u3003\\u301d-\\u301f\\uff02\\u{1f676}-\\u{1f678}]',
  `(?<=${SINGLE})${SINGLE}`,
].join('|');

const [EACH_HIDDEN, EACH_DECEPTIVE] = [new RegExp(HIDDEN_IN_WORDS, 'gu'), new RegExp(DECEPTIVE, 'gu')];
/**
 * Combining marks. At the start of a value, one would change our own mark; on a space, it looks like a quotation mark;
 * a stack of them hides lines.
 */
const COMBINING = /(?<=^| )\p{M}+|(?<=\p{M}{2})\p{M}+/gu;
/** Letters that are written from right to left: they would move the text beside them. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
// Left to right inside, so that an escape between right-to-left letters is not reversed.
const ISOLATE = '\u2066';
const END_ISOLATE = '\u2069';

/** A value for {@link words}. It is shown between marks, with deceptive characters escaped. */
export type WordsValue = string | number | bigint | boolean | Words;

/** Text that {@link words} made, with its data between marks. */
export class Words {
  /** The text that a user reads. */
  readonly text: string;
  readonly #made = true;

  private constructor(text: string) {
    this.text = text;
  }

  /** @internal */
  static of(text: string): Words {
    return new Words(text);
  }

  /** Whether {@link words} made `value`. An object of the same form does not count. */
  static isWords(value: unknown): value is Words {
    return typeof value === 'object' && value !== null && #made in value;
  }

  toString(): string {
    return this.text;
  }
}

/**
 * Makes the text of a question. Each value stands between “ and ”. These marks, their known look-alikes, line breaks,
 * control characters, bidirectional marks and zero-width characters are shown as escapes (`\n`, `\u{202e}`). A value of
 * more than 200 characters is cut in the middle, with 128 bits of its SHA-256. It does not find deception in plain
 * letters: a link, Markdown that a client renders, or look-alike letters of another alphabet.
 *
 * @throws InvalidOption for a value that is not a text, number, boolean or {@link Words}, and for a call as a plain
 * function: the text of such a call would not be escaped.
 * @example const question = words`Pay ${amount} to ${payee}?`; // Pay “120” to “Ada \u{202e}”?
 */
export function words(strings: TemplateStringsArray, ...values: readonly WordsValue[]): Words {
  if (!Array.isArray(strings) || !Array.isArray(strings.raw) || !Object.isFrozen(strings))
    throw new InvalidOption('words: write it before a template, as words`Delete the file?`.');
  const parts = values.map((value, index) => show(value, index) + strings[index + 1]);
  return Words.of([strings[0], ...parts].join(''));
}

function show(value: unknown, index: number) {
  if (Words.isWords(value)) return value.text;
  if (!['string', 'number', 'bigint', 'boolean'].includes(typeof value)) {
    const what = value === null ? 'null' : typeof value;
    throw new InvalidOption(
      `words: value ${index + 1} must be a text, a number, true or false, or words; it is ${what}.`,
    );
  }
  const characters = [...`${value}`];
  if (characters.length <= LONGEST) return quote(characters);
  const left = characters.length - 2 * SHOWN_OF_A_LONG_ONE;
  const [start, end] = [characters.slice(0, SHOWN_OF_A_LONG_ONE), characters.slice(-SHOWN_OF_A_LONG_ONE)];
  // The digest of the whole value tells apart two values that differ only in the middle.
  const digest = hash('sha256', characters.join('')).slice(0, 32);
  return `${quote(start)} (${left} more characters; SHA-256 of all: ${digest}) ${quote(end)}`;
}

function quote(characters: readonly string[]) {
  const shown = escapeDeceptive(characters.join(''));
  return `“${RIGHT_TO_LEFT.test(shown) ? `${ISOLATE}${shown}${END_ISOLATE}` : shown}”`;
}

/** Escapes each character of `text` that could deceive its reader. */
export const escapeDeceptive = (text: string) =>
  text.replace(EACH_DECEPTIVE, escapeEach).replace(COMBINING, escapeEach);

/** Escapes each character of `text` that is invisible, or that moves or covers the text beside it. */
export const escapeHidden = (text: string) =>
  text.replace(EACH_HIDDEN, escapeEach).replace(COMBINING, escapeEach);

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

const escapeEach = (match: string) =>
  [...match].map((one) => SHORT[one] ?? `\\u{${one.codePointAt(0)?.toString(16)}}`).join('');

/** The text of an author's message. */
export const textOf = (message: string | Words) => (Words.isWords(message) ? message.text : message);
