/** A transcript as a Mermaid sequence diagram. */
import {
  CLIENT,
  type Message,
  type Transcript,
  type TranscriptEvent,
  type WireMessage,
  WORLD,
} from './transcript.ts';
import {
  addressText,
  answerText,
  askText,
  contentText,
  errorText,
  objectIn,
  questionsText,
  replyText,
  requestText,
  restartText,
  resultText,
} from './wording.ts';

/**
 * Writes the diagram: an arrow for each message, a note for each thing that happened inside an instance.
 *
 * @example
 * console.log(toMermaid(await converse(request, deploy)));
 */
export function toMermaid({ title, participants, events, end }: Transcript): string {
  const names = new Map(participants.map(({ id }, at) => [id, `P${at}`]));
  const writer = new Writer((id) => names.get(id) ?? names.get(CLIENT) ?? 'P0', names.has(WORLD));
  const heads = participants.map(
    ({ id, kind, label }) =>
      `${kind === 'person' ? 'actor' : 'participant'} ${names.get(id)} as ${escapeText(label)}`,
  );
  const lines = [...heads, ...events.flatMap((event) => writer.next(event))];
  if (end.error && !writer.errorShown) lines.push(writer.note(CLIENT, `✗ ${end.error.message}`));
  return ['sequenceDiagram', `  title ${escapeText(title)}`, ...lines.map((line) => `  ${line}`)].join('\n');
}

class Writer {
  errorShown = false;
  /** Whether the latest question is about a page. */
  #page = false;
  readonly #name: (id: string) => string;
  readonly #hasWorld: boolean;

  constructor(name: (id: string) => string, hasWorld: boolean) {
    this.#name = name;
    this.#hasWorld = hasWorld;
  }

  /** The lines of one event. */
  next(event: TranscriptEvent): readonly string[] {
    switch (event.kind) {
      case 'message':
        return this.#message(event);
      case 'question':
        this.#page = event.url !== undefined;
        return [this.#arrow(CLIENT, event.to, '->>', event.message)];
      case 'answer':
        return [this.#arrow(event.from, CLIENT, '-->>', replyText(event.reply, this.#page))];
      case 'visit':
        return [this.note(event.from, `browser: ${addressText(event.url)} → ${event.status}`)];
      case 'model':
        return [this.note(CLIENT, `the model: ${contentText(event.result.content)}`)];
      case 'roots':
        return [
          this.note(CLIENT, `roots: ${event.roots.map(({ name, uri }) => name ?? uri).join(', ') || 'none'}`),
        ];
      case 'entry':
        return [this.note(event.instance, ['entry', event.part, event.name ?? ''].join(' ').trim())];
      case 'lines':
        return [];
      case 'guard':
        return [
          this.note(event.instance, `once ${event.key}: ${event.phase === 'ran' ? 'runs' : 'held back'}`),
        ];
      case 'effect':
        return [this.#effect(event.instance, `${event.name}: ${event.detail}`)];
      case 'state':
        return [this.note(event.instance, `state ${event.phase}, ${event.reason ?? `${event.bytes} B`}`)];
      case 'kill':
        return [this.note(event.instance, '☠ killed')];
      case 'restart':
        return [this.note(event.instance, restartText(event))];
    }
  }

  note(over: string, text: string): string {
    return `Note over ${this.#name(over)}: ${escapeText(text)}`;
  }

  #effect(from: string, text: string): string {
    return this.#hasWorld ? this.#arrow(from, WORLD, '->>', text) : this.note(from, text);
  }

  #message({ from, to, message, lost }: Message): readonly string[] {
    if (message.method !== undefined && message.id === undefined) return [];
    const text = this.#text(message);
    if (lost || to === undefined) return [this.#arrow(from, to ?? from, '-x', text)];
    return [this.#arrow(from, to, message.method === undefined ? '-->>' : '->>', text)];
  }

  #text(message: WireMessage): string {
    if (message.error !== undefined) {
      this.errorShown = true;
      return `✗ ${errorText(objectIn(message, 'error'))}`;
    }
    if (message.method !== undefined)
      return CALLED.test(String(message.method)) ? requestText(message) : askText(message);
    const result = objectIn(message, 'result');
    if (result.resultType === 'input_required') return questionsText(result);
    const answer = 'action' in result || 'role' in result || 'roots' in result;
    return answer ? answerText(result) : `${result.isError === true ? '✗ ' : ''}${resultText(result)}`;
  }

  #arrow(from: string, to: string, kind: '->>' | '-->>' | '-x', text: string): string {
    return `${this.#name(from)}${kind}${this.#name(to)}: ${escapeText(text)}`;
  }
}

const CALLED = /^(?:tools\/call|prompts\/get|resources\/read)$/;
const MOST = 200;

/**
 * Text as Mermaid shows it: on one line, and with everything escaped that Mermaid, or the HTML that it makes, could
 * take for syntax.
 */
function escapeText(text: string): string {
  const line = text
    .replace(/\s+/gu, ' ')
    .replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd')
    .trim();
  const short = [...line].length > MOST ? `${[...line].slice(0, MOST).join('')}…` : line;
  const safe = [...short].map((character) =>
    /[\p{L}\p{M}\p{N} .,:!?'"(){}[\]/_=+→×·…\p{So}\ufffd-]/u.test(character)
      ? character
      : `#${character.codePointAt(0)};`,
  );
  return safe.join('') || '(nothing)';
}
