/** Escapes text from a server for the place where it is shown. */
import { escapeHidden, escapeLines, jsonText as toJson } from '@mrtr/harness/internal';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { isObject, type Texts } from '../wire/json.ts';

/** Escapes text for HTML and XML. */
export const forMarkup = (text: string) =>
  escapeLines(text).replace(/[&<>"']|##|::/g, (found) => MARKUP[found] ?? '');

const MARKUP: Texts = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' },
  // The log of a CI job executes these.
  ...{ '##': '#&#35;', '::': ':&#58;' },
};

/** Escapes text for Markdown, on one line. */
export const forMarkdown = (text: string) =>
  escapeHidden(text.replace(/\s+/g, ' '))
    .replace(/[\\`*_{}[\]<>()#+!|~$&]/g, '\\$&')
    .replace(/@/g, '&#64;')
    // GitHub turns addresses into links.
    .replace(/:\/\//g, ':&#47;&#47;')
    .replace(/\bwww\./gi, (www) => `${www.slice(0, -1)}&#46;`);

/** Escapes text for a terminal and the log of a CI job, which executes `::error::` and `##vso[`. */
export const forLog = (text: string) =>
  escapeLines(text)
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
export const printable = (value: unknown) => mapTexts(value, escapeLines);

/** Serializes to JSON that is safe on a terminal and in the log of a CI job. The value stays the same. */
export const jsonText = (value: unknown) => toJson(value).replace(/##/g, '#\\u0023');

export function wrap(text: string, width: number, most = 20) {
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

export function clip(text: string, width: number) {
  const line = escapeHidden(text.replace(/\n/g, ' '));
  if (stringWidth(line) <= width) return line;
  const [kept] = wrapAnsi(line, width - 1, { hard: true, trim: false, wordWrap: false }).split('\n');
  return `${kept}…`;
}

export const pad = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - stringWidth(text)));
