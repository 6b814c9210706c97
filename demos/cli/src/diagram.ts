/**
 * A conversation as a sequence diagram: the client on the left, the server on the right, time going down. The server's
 * lifeline is thick while it has an open request, which shows what it holds while the user thinks.
 */

import type { Reply, Root } from '@mrtr/harness';
import {
  addressText,
  answerText,
  askText,
  CLIENT,
  contentText,
  errorText,
  type JsonObject,
  objectIn,
  questionsText,
  replyText,
  requestText,
  restartText,
  resultText,
  type Transcript,
  type TranscriptEvent,
  type WireMessage,
} from '@mrtr/harness/transcript';
import { type CountedEffect, closingLine } from './closing-line.ts';
import { type Frame, frameIn } from './frame.ts';
import { misfit } from './misfit.ts';
import { type Paint, plain } from './paint.ts';
import { wrap } from './printable.ts';

type Lines = readonly string[];
type Entry = Extract<TranscriptEvent, { kind: 'entry' }>;

/** How a conversation is drawn. */
export interface DiagramOptions {
  /** Whether the server's diagnostics are in the transcript. Default true. */
  readonly inside?: boolean;
}

/** Draws event by event, during the conversation. Each call returns the lines that are complete. */
export class Diagram {
  readonly #frame: Frame;
  readonly #paint: Paint;
  /** The requests that are drawn as open. The client made those with a name like `client:1`. */
  readonly #open = new Set<string>();
  /** Whether the server's diagnostics are heard: only then is it known whether state is sealed. */
  readonly #inside: boolean;
  #entries = 0;
  /** An arrow to the server waits for the next event, which may be the entry that is its label. */
  #arrowPending = false;
  #sealed = false;
  #errorDrawn = false;
  /** The effects that are drawn, and the form of the latest question. */
  readonly #effects = new Set<string>();
  #form: JsonObject = {};
  #page = false;

  constructor(paint: Paint = plain, { inside = true }: DiagramOptions = {}) {
    this.#paint = paint;
    this.#inside = inside;
    this.#frame = frameIn(paint);
  }

  /** The heads of the lifelines. */
  begin(): Lines {
    return [this.#frame.heads()];
  }

  /** What `event` adds. */
  next(event: TranscriptEvent): Lines {
    if (event.kind === 'entry') return this.#drawEntry(event);
    if (event.kind === 'state' && event.phase !== 'rejected') {
      // It is drawn with the message that carries it.
      this.#sealed = event.phase === 'sealed';
      return [];
    }
    return [...this.#arrow(), ...this.#draw(event)];
  }

  /** The last lines, when the call is over. */
  end({ end: { error } }: Pick<Transcript, 'end'>): Lines {
    const lines = [...this.#arrow()];
    // An error without a message is the client's own.
    if (error && !this.#errorDrawn) lines.push(...this.#frame.text(`✗ ${error.message}`, 'error', false));
    return lines;
  }

  #draw(event: Exclude<TranscriptEvent, Entry>): Lines {
    const open = this.#open.size > 0;
    switch (event.kind) {
      case 'message':
        return event.from === CLIENT ? this.#fromClient(event.message) : this.#fromServer(event.message);
      case 'question':
        this.#form = event.schema;
        this.#page = event.url !== undefined;
        return [];
      case 'lines':
        return [];
      case 'answer':
        return this.#answer(event.reply, open);
      case 'visit':
        return this.#frame.text(`☺ browser: ${addressText(event.url)} → ${event.status}`, 'quiet', open);
      case 'model':
        return this.#frame.text(`◇ the model: ${contentText(event.result.content)}`, 'user', open);
      case 'roots':
        return this.#frame.text(`◇ roots: ${rootsText(event.roots)}`, 'user', open);
      case 'guard':
        return this.#frame.note(
          `effect ${event.key}: ${event.phase === 'ran' ? 'runs' : 'held back'}`,
          'effect',
          open,
        );
      case 'effect':
        return this.#effect(`✎ ${event.name}: ${event.detail}`, open);
      case 'kill':
        return this.#frame.note('☠ killed', 'error', open);
      case 'restart':
        return this.#frame.note(restartText(event), 'quiet', open);
      case 'state':
        return this.#frame.note('✗ state rejected', 'error', open);
    }
  }

  #answer(reply: Reply, open: boolean): Lines {
    const drawn = this.#frame.text(`☺ ${replyText(reply, this.#page)}`, 'user', open);
    const accepted = reply !== 'silence' && reply.action === 'accept';
    const why = accepted && !this.#page ? misfit(this.#form, reply.content ?? {}) : undefined;
    // The server asks again, and the wire does not show why.
    return why === undefined
      ? drawn
      : [...drawn, ...this.#frame.text(`  does not fit: ${why}`, 'error', open)];
  }

  /** Marks an effect that one call has twice: this project is about preventing that. */
  #effect(text: string, open: boolean): Lines {
    if (this.#effects.has(text)) return this.#frame.note(`${text} — AGAIN`, 'error', open);
    this.#effects.add(text);
    return this.#frame.note(text, 'effect', open);
  }

  #fromClient(message: WireMessage): Lines {
    const { method, id } = message;
    const open = this.#open.size > 0;
    if (method === undefined) {
      this.#open.delete(`server:${id}`);
      const text = message.error === undefined ? answerText(objectIn(message, 'result')) : failure(message);
      return this.#towards(this.#frame.text(text, 'request', open));
    }
    if (id === undefined) return [];
    this.#open.add(`client:${id}`);
    return this.#towards(this.#frame.text(requestText(message), 'request', open));
  }

  #fromServer(message: WireMessage): Lines {
    const { method, id } = message;
    if (method !== undefined) {
      if (id === undefined) return [];
      this.#open.add(`server:${id}`);
      return [...this.#frame.text(askText(message), 'question', true), this.#frame.toClient(true)];
    }
    const lines = this.#drawAnswer(message);
    this.#open.delete(`client:${id}`);
    return [...lines, this.#frame.toClient(this.#open.size > 0)];
  }

  #drawAnswer(message: WireMessage): Lines {
    if (message.error !== undefined) {
      this.#errorDrawn = true;
      return this.#frame.text(failure(message), 'error', true);
    }
    const result = objectIn(message, 'result');
    if (result.resultType === 'input_required') {
      return this.#frame.text(questionsText(result), 'question', true, this.#state(result));
    }
    return result.isError === true
      ? this.#frame.text(`✗ ${resultText(result)}`, 'error', true, 'isError')
      : this.#frame.text(resultText(result), 'result', true);
  }

  #state({ requestState }: JsonObject): string {
    if (typeof requestState !== 'string') return '';
    const state = `state ${Buffer.byteLength(requestState)} B`;
    if (!this.#inside) return state;
    const sealed = this.#sealed ? 'sealed' : 'not sealed';
    this.#sealed = false;
    return `${state}, ${sealed}`;
  }

  #towards(lines: Lines): Lines {
    this.#arrowPending = true;
    return lines;
  }

  #arrow(label?: string): Lines {
    if (!this.#arrowPending) return [];
    this.#arrowPending = false;
    return [this.#frame.toServer(label)];
  }

  #drawEntry({ part, name = '' }: Entry): Lines {
    if (part === 'step' || part === 'resolver') {
      return [...this.#arrow(), ...this.#frame.note(`${part} ${name}`, 'entry', this.#open.size > 0)];
    }
    this.#entries += 1;
    const label = `entry ${this.#entries}`;
    return this.#arrowPending ? this.#arrow(label) : this.#frame.note(label, 'entry', this.#open.size > 0);
  }

  /** The closing line, with the numbers of the conversation. */
  closing(transcript: Transcript, effect: CountedEffect): Lines {
    const lines = wrap(closingLine(transcript, effect), 78);
    return lines.map((line) => `  ${this.#paint('quiet', line)}`);
  }
}

const rootsText = (roots: readonly Root[]): string =>
  roots.map(({ name, uri }) => name ?? uri).join(', ') || 'none';

const failure = (message: WireMessage): string => `✗ ${errorText(objectIn(message, 'error'))}`;

/** The whole drawing of a conversation that is over. */
export function diagram(transcript: Transcript, effect: CountedEffect, paint: Paint = plain): Lines {
  const drawing = new Diagram(paint);
  return [
    ...drawing.begin(),
    ...transcript.events.flatMap((event) => drawing.next(event)),
    ...drawing.end(transcript),
    '',
    ...drawing.closing(transcript, effect),
  ];
}
