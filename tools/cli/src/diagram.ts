/**
 * A conversation as a sequence diagram: the client on the left, the server on the right, time going down. The server's
 * lifeline is thick while a request is open: so one sees whether the server holds one while the user thinks.
 */

import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import type { CountedEffect } from '@mrtr/comparison/demo';
import {
  eventsOf,
  Layout,
  objectIn,
  type Participant,
  type Row,
  type Transcript,
  type TranscriptEvent,
  tally,
} from '@mrtr/harness/transcript';
import { type Lifelines, lifelinesIn } from './lifelines.ts';
import { type Paint, plain } from './terminal.ts';

type Lines = readonly string[];

const SIGNS: { readonly [Kind in TranscriptEvent['kind']]?: string } = {
  answer: '☺ ',
  visit: '☺ ',
  model: '◇ ',
  roots: '◇ ',
  effect: '✎ ',
};

const validator = new AjvJsonSchemaValidator();

const BESIDE_CLIENT: readonly TranscriptEvent['kind'][] = ['answer', 'visit', 'model', 'roots'];

/** Draws event by event, during the conversation. Each call returns the lines that are complete. */
export class Diagram {
  readonly #layout: Layout;
  readonly #lifelines: Lifelines;
  /** Whether the server's diagnostics are observed: only they show whether state is sealed. */
  readonly #inside: boolean;
  #isOpen = false;
  /** An arrow to the server waits for the next event, which may be the entry that is its label. */
  #arrowPending = false;
  #sealed = false;
  #errorDrawn = false;
  #question: Extract<TranscriptEvent, { kind: 'question' }> | undefined;

  constructor(paint: Paint = plain, inside = true, people: readonly Participant[] = []) {
    this.#layout = new Layout(people);
    this.#inside = inside;
    this.#lifelines = lifelinesIn(paint);
  }

  begin(): Lines {
    return [this.#lifelines.heads()];
  }

  next(event: TranscriptEvent): Lines {
    const row = this.#layout.next(event);
    if (event.kind === 'state' && event.phase !== 'rejected') {
      // The message that carries the state shows it.
      this.#sealed = event.phase === 'sealed';
      return [];
    }
    if (!row) return [];
    if (event.kind === 'question') this.#question = event;
    const isLabel = this.#arrowPending && isWhole(row);
    const arrow = this.#arrow(isLabel ? row.text : undefined);
    const drawn = isLabel || event.kind === 'question' ? [] : this.#draw(row);
    this.#isOpen = row.isOpen;
    return [...arrow, ...drawn];
  }

  end({ end: { error } }: Pick<Transcript, 'end'>): Lines {
    const lines = [...this.#arrow()];
    // The client itself raised an error that no message carries.
    if (error && !this.#errorDrawn) lines.push(...this.#lifelines.text(`✗ ${error.message}`, 'error', false));
    return lines;
  }

  #draw(row: Row) {
    const { event, text, tone } = row;
    if (event.kind === 'message') return this.#drawMessage(row, event);
    const words = `${SIGNS[event.kind] ?? ''}${text}`;
    if (!BESIDE_CLIENT.includes(event.kind)) return this.#lifelines.note(words, tone, this.#isOpen);
    const lines = this.#lifelines.text(words, tone, this.#isOpen);
    const why = this.#misfit(event);
    // The server asks again, and the messages do not show why.
    return why === undefined
      ? lines
      : [...lines, ...this.#lifelines.text(`  does not fit: ${why}`, 'error', this.#isOpen)];
  }

  #misfit(event: TranscriptEvent) {
    const { url, schema = {} } = this.#question ?? {};
    if (
      event.kind !== 'answer' ||
      event.reply === 'silence' ||
      event.reply.action !== 'accept' ||
      url !== undefined
    )
      return undefined;
    const checked = validator.getValidator(schema)(event.reply.content ?? {});
    return checked.valid
      ? undefined
      : checked.errorMessage.replaceAll('data/', '').replace('be equal to', 'be');
  }

  #drawMessage(
    { isSent, isOpen, text, tone }: Row,
    { message, lost, to }: Extract<TranscriptEvent, { kind: 'message' }>,
  ) {
    const isLost = lost || to === undefined;
    if (isSent) {
      const lines = this.#lifelines.text(text, tone, this.#isOpen);
      if (isLost) return [...lines, this.#lifelines.lost(true, isOpen)];
      this.#arrowPending = true;
      return lines;
    }
    this.#errorDrawn ||= message.error !== undefined;
    const result = objectIn(message, 'result');
    const aside = result.isError === true ? 'isError' : this.#describeState(result.requestState);
    return [
      ...this.#lifelines.text(text, tone, true, aside),
      isLost ? this.#lifelines.lost(false, isOpen) : this.#lifelines.toClient(isOpen),
    ];
  }

  #describeState(state: unknown) {
    if (typeof state !== 'string') return '';
    const size = `state ${Buffer.byteLength(state)} B`;
    const sealed = this.#sealed ? ', sealed' : ', not sealed';
    this.#sealed = false;
    return this.#inside ? size + sealed : size;
  }

  #arrow(label?: string) {
    if (!this.#arrowPending) return [];
    this.#arrowPending = false;
    return [this.#lifelines.toServer(label)];
  }
}

/** Whether a row is the entry of the acting part, and not of a step or resolver before it. */
const isWhole = ({ event }: Row) =>
  event.kind === 'entry' && event.part !== 'step' && event.part !== 'resolver';

export function diagram(transcript: Transcript, paint: Paint = plain): Lines {
  const people = transcript.participants.filter(({ kind }) => kind === 'person');
  const drawing = new Diagram(paint, true, people);
  const rows = transcript.events.flatMap((event) => drawing.next(event));
  return [...drawing.begin(), ...rows, ...drawing.end(transcript)];
}

/**
 * The line below a drawing: `2 rounds · handler entered 2× · audit written 1× · nothing held between rounds`. For a tool in parts, it counts the
 * acting part: steps and resolvers may run in any round.
 */
export function closingLine(transcript: Transcript, effect?: CountedEffect): string {
  const { rounds, entries, effects, framesHeld, liveAsks } = tally(transcript);
  const written = effect && `${effect === 'audit' ? 'audit' : 'item'} written ${effects[effect] ?? 0}×`;
  return [
    plural(rounds, 'round'),
    `${actingPart(transcript)} ${entries}×`,
    ...(written ? [written] : []),
    describeHeld(framesHeld, liveAsks),
  ].join(' · ');
}

function actingPart({ events }: Transcript) {
  const parts = new Set(eventsOf('entry', events).map(({ part }) => part));
  if (parts.has('step') || parts.has('end')) return 'end step run';
  return parts.has('resolver') || parts.has('body') ? 'body run' : 'handler entered';
}

function describeHeld(frames: number, liveAsks: number) {
  const frame = plural(frames, 'frame');
  if (liveAsks > 0) return frames > 0 ? `a stream and ${frame} held open` : 'a stream held open';
  return `${frames > 0 ? frame : 'nothing'} held between rounds`;
}

export const plural = (many: number, what: string): string => `${many} ${what}${many === 1 ? '' : 's'}`;
