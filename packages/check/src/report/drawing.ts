/** Draws a conversation as text, with the client on the left and the server on the right. */
import { DECLARED } from '@mrtr/harness/internal';
import {
  answerText,
  objectIn,
  type Row,
  rowsOf,
  type Transcript,
  type TranscriptEvent,
  type WireMessage,
} from '@mrtr/harness/transcript';
import { clip, pad, wrap } from './text.ts';

const WIDTH = 78;
/** The limit of blocks. Longer conversations are cut in the middle. */
const MAX_BLOCKS = 24;

/** Draws a conversation as printable lines. Draws repeated messages once. */
export function draw(transcript: Transcript) {
  const labels = new Map(transcript.participants.map(({ id, label }) => [id, label]));
  let known: string | undefined;
  const lines = rowsOf(transcript).map((row) => {
    const given = argumentsOf(row.event) ?? known;
    const changed = known === undefined || given === known ? '' : `with ${given}`;
    known = given;
    return linesOf(row, labels, changed);
  });
  const blocks = mergeRepeats(lines.filter((one) => one.length > 0));
  const shown = blocks.length <= MAX_BLOCKS ? blocks : [...blocks.slice(0, 10), GAP, ...blocks.slice(-10)];
  return [`${pad('  mrtr-check', WIDTH - 4)}server`, ...shown.flat()];
}

function mergeRepeats(blocks: readonly (readonly string[])[]) {
  const merged: { readonly lines: readonly string[]; times: number }[] = [];
  for (const lines of blocks) {
    const last = merged.at(-1);
    if (last && last.lines.join('\n') === lines.join('\n')) last.times++;
    else merged.push({ lines, times: 1 });
  }
  return merged.map(({ lines, times }) => (times === 1 ? lines : [inside(`${times} times:`), ...lines]));
}

/** The arguments of a request as text. */
const argumentsOf = (event: TranscriptEvent) =>
  event.kind === 'message' && event.message.method !== undefined
    ? JSON.stringify(objectIn(event.message, 'params').arguments)
    : undefined;

function linesOf(row: Row, labels: ReadonlyMap<string, string>, changed: string) {
  const { event, isSent, text } = row;
  switch (event.kind) {
    case 'message': {
      const other = isSent ? event.to : event.from;
      const label = other === undefined || other === 'server' ? '' : ` ${clip(other, 12)}`;
      const as = isSent && event.from !== 'client' ? (labels.get(event.from) ?? '') : '';
      const words = [as, text + details(event.message, isSent), changed].filter((one) => one !== '');
      const lines = words.flatMap((one) => wrap(one, WIDTH - 8, 5)).map(inside);
      const isLost = event.lost || event.to === undefined;
      return [...lines, isLost ? LOST : `${isSent ? ARROW_RIGHT : ARROW_LEFT}${label}`];
    }
    case 'effect':
      return wrap(text, WIDTH - 8, 3).map((line) => onTheRight(`✎ ${line}`));
    case 'kill':
    case 'restart':
      return [onTheRight(`${text}: ${event.instance}`)];
    default:
      return [];
  }
}

const ARROW_RIGHT = `    ├${'─'.repeat(WIDTH - 7)}▶│`;
const ARROW_LEFT = `    │◀${'─'.repeat(WIDTH - 7)}┤`;
const LOST = `    │${'─'.repeat(WIDTH / 2)}✕${' '.repeat(WIDTH / 2 - 7)}│`;
const inside = (text: string) => `    │  ${pad(text, WIDTH - 8)}│`;

const GAP = [inside('… and so on …')];

function onTheRight(text: string) {
  const room = WIDTH - 8;
  const fit = clip(text, room);
  return `    │  ${' '.repeat(Math.max(0, room - pad(fit, 0).length - 1))}${fit} │`;
}

function details(message: WireMessage, isSent: boolean) {
  const parts = isSent ? sentDetails(objectIn(message, 'params')) : stateText(objectIn(message, 'result'));
  return parts.map((part) => `\n${part}`).join('');
}

const stateText = ({ requestState }: WireMessage) =>
  requestState === undefined ? [] : [`+ state ${stateWords(requestState)}`];

function stateWords(state: unknown) {
  const text = typeof state === 'string' ? state : JSON.stringify(state);
  return text.length > 40 ? `${clip(text, 28)} (${text.length} characters)` : clip(text, 40) || '""';
}

function sentDetails(params: WireMessage) {
  const declared = objectIn(params, '_meta')[DECLARED] ?? params.capabilities;
  const responses = objectIn(params, 'inputResponses');
  const answers = Object.keys(responses).map((key) => `${key}: ${answerText(objectIn(responses, key))}`);
  const capabilities = declared === undefined ? [] : [`declares ${JSON.stringify(declared)}`];
  return [...capabilities, ...answers, ...stateText(params)];
}
