/**
 * A conversation as a sequence diagram: the client on the left, the server on the right, time going down. The server's
 * lifeline is thick while a request is open: so one sees whether the server holds one while the user thinks.
 */

import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import type { CountedEffect } from '@mrtr/comparison/demo';
import type { Reply } from '@mrtr/harness';
import {
  eventsOf,
  Layout,
  type Message,
  objectIn,
  type Participant,
  type QuestionEvent,
  type Row,
  type Transcript,
  type TranscriptEvent,
  tally,
} from '@mrtr/harness/transcript';
import { lifelinesIn } from './lifelines.ts';
import { type Paint, plain } from './terminal.ts';

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
export function diagramOf(paint: Paint = plain, inside = true, people: readonly Participant[] = []) {
  const layout = new Layout(people);
  const lifelines = lifelinesIn(paint);
  let isOpen = false;
  /** An arrow to the server waits for the next event, which may be the entry that is its label. */
  let isArrowPending = false;
  let isSealed = false;
  let isErrorDrawn = false;
  let question: QuestionEvent | undefined;

  function draw(row: Row) {
    const { event, text, tone } = row;
    if (event.kind === 'message') return drawMessage(row, event);
    const words = `${SIGNS[event.kind] ?? ''}${text}`;
    if (!BESIDE_CLIENT.includes(event.kind)) return lifelines.note(words, tone, isOpen);
    const why = event.kind === 'answer' ? misfit(event.reply) : undefined;
    // The server asks again, and the messages do not show why.
    const reason = why === undefined ? [] : lifelines.text(`  does not fit: ${why}`, 'error', isOpen);
    return [...lifelines.text(words, tone, isOpen), ...reason];
  }

  function misfit(reply: Reply) {
    const { url, schema = {} } = question ?? {};
    if (reply === 'silence' || reply.action !== 'accept' || url !== undefined) return undefined;
    const checked = validator.getValidator(schema)(reply.content ?? {});
    return checked.errorMessage?.replaceAll('data/', '').replace('be equal to', 'be');
  }

  function drawMessage({ isSent, text, tone, ...row }: Row, { message, lost, to }: Message) {
    const isLost = lost || to === undefined;
    if (isSent) {
      const lines = lifelines.text(text, tone, isOpen);
      if (isLost) return [...lines, lifelines.lost(true, row.isOpen)];
      isArrowPending = true;
      return lines;
    }
    isErrorDrawn ||= message.error !== undefined;
    const result = objectIn(message, 'result');
    const aside = result.isError === true ? 'isError' : describeState(result.requestState);
    return [
      ...lifelines.text(text, tone, true, aside),
      isLost ? lifelines.lost(false, row.isOpen) : lifelines.toClient(row.isOpen),
    ];
  }

  function describeState(state: unknown) {
    if (typeof state !== 'string') return '';
    const size = `state ${Buffer.byteLength(state)} B`;
    const sealed = isSealed ? ', sealed' : ', not sealed';
    isSealed = false;
    // Only the server's diagnostics show whether state is sealed.
    return inside ? size + sealed : size;
  }

  function drawArrow(label?: string) {
    if (!isArrowPending) return [];
    isArrowPending = false;
    return [lifelines.toServer(label)];
  }

  return {
    begin: () => [lifelines.heads()],

    next(event: TranscriptEvent) {
      const row = layout.next(event);
      if (event.kind === 'state' && event.phase !== 'rejected') {
        // The message that carries the state shows it.
        isSealed = event.phase === 'sealed';
        return [];
      }
      if (!row) return [];
      if (event.kind === 'question') question = event;
      const isLabel = isArrowPending && isWhole(row);
      const arrow = drawArrow(isLabel ? row.text : undefined);
      const drawn = isLabel || event.kind === 'question' ? [] : draw(row);
      isOpen = row.isOpen;
      return [...arrow, ...drawn];
    },

    end({ end: { error } }: Pick<Transcript, 'end'>) {
      // The client itself raised an error that no message carries.
      const isDrawn = !error || isErrorDrawn;
      return [...drawArrow(), ...(isDrawn ? [] : lifelines.text(`✗ ${error.message}`, 'error', false))];
    },
  };
}

/** Whether a row is the entry of the acting part, and not of a step or resolver before it. */
const isWhole = ({ event }: Row) =>
  event.kind === 'entry' && event.part !== 'step' && event.part !== 'resolver';

/**
 * The line below a drawing: `2 rounds · handler entered 2× · audit written 1× · nothing held between rounds`. For a tool in parts, it counts the
 * acting part: steps and resolvers may run in any round.
 */
export function closingLine(transcript: Transcript, effect?: CountedEffect) {
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

export const plural = (many: number, what: string) => `${many} ${what}${many === 1 ? '' : 's'}`;
