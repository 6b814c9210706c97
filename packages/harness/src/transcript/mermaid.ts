/** A transcript as a Mermaid sequence diagram. */
import { escapeHidden } from './hidden-characters.ts';
import { lanesOf, type Row, rowsOf } from './layout.ts';
import { CLIENT, type Transcript } from './transcript.ts';

/**
 * Writes the diagram: an arrow for each message, and a note for each event inside an instance.
 *
 * @example
 * console.log(toMermaid(await converse(request, deploy)));
 */
export function toMermaid(transcript: Transcript): string {
  const { title, end } = transcript;
  const lanes = lanesOf(transcript);
  const names = new Map(lanes.map(({ id }, at) => [id, `P${at}`]));
  const nameOf = (id: string) => names.get(id) ?? names.get(CLIENT) ?? 'P0';
  const heads = lanes.map(
    ({ id, kind, label }) =>
      `${kind === 'person' ? 'actor' : 'participant'} ${nameOf(id)} as ${escapeText(label)}`,
  );
  const rows = rowsOf(transcript);
  const lines = [...heads, ...rows.map((row) => lineOf(row, nameOf))];
  // An error without a message is the client's.
  const hasError = rows.some(({ event }) => event.kind === 'message' && event.message.error !== undefined);
  if (end.error && !hasError)
    lines.push(`Note over ${nameOf(CLIENT)}: ${escapeText(`✗ ${end.error.message}`)}`);
  return ['sequenceDiagram', `  title ${escapeText(title)}`, ...lines.map((line) => `  ${line}`)].join('\n');
}

function lineOf({ event, from, to, text }: Row, nameOf: (id: string) => string) {
  const words = escapeText(text);
  if (event.kind !== 'message' && from === to) return `Note over ${nameOf(from)}: ${words}`;
  return `${nameOf(from)}${arrowOf(event)}${nameOf(to)}: ${words}`;
}

function arrowOf(event: Row['event']) {
  if (event.kind === 'answer') return '-->>';
  if (event.kind !== 'message') return '->>';
  if (event.lost || event.to === undefined) return '-x';
  return event.message.method === undefined ? '-->>' : '->>';
}

const MAX_TEXT = 200;

/**
 * Text on one line, with all characters escaped that are syntax in Mermaid or in its HTML.
 */
function escapeText(text: string) {
  const line = escapeHidden(text.replace(/\s+/gu, ' ').trim());
  const short = [...line].length > MAX_TEXT ? `${[...line].slice(0, MAX_TEXT).join('')}…` : line;
  const safe = [...short].map((character) =>
    /[\p{L}\p{M}\p{N} .,:!?'"(){}[\]/_=+→×·…⊘\p{So}-]/u.test(character)
      ? character
      : `#${character.codePointAt(0)};`,
  );
  return safe.join('') || '(nothing)';
}
