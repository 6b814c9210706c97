/** A transcript out of a file that anybody may have written: checked here, and shown as text. */
import type { TranscriptEvent } from '@mrtr/harness/transcript';
import type { Conversation } from '../../src/protocol.ts';

type Fields = Readonly<Record<string, 'string' | 'number' | 'object'>>;

const EVENTS: Readonly<Record<TranscriptEvent['kind'], Fields>> = {
  message: { from: 'string', message: 'object' },
  question: { to: 'string', id: 'number', message: 'string', framesHeld: 'number' },
  answer: { from: 'string', id: 'number' },
  visit: { from: 'string', url: 'string', status: 'number' },
  model: { result: 'object' },
  roots: { roots: 'object' },
  entry: { instance: 'string', part: 'string' },
  lines: { instance: 'string', files: 'object' },
  guard: { instance: 'string', key: 'string', phase: 'string' },
  effect: { instance: 'string', name: 'string', detail: 'string' },
  state: { instance: 'string', phase: 'string', bytes: 'number' },
  kill: { instance: 'string' },
  restart: { instance: 'string' },
};

const MOST_BYTES = 10_000_000;

export function readTranscript(text: string): Conversation {
  if (text.length > MOST_BYTES) throw new Error('This file is too large for a transcript.');
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Error('This file is not JSON.');
  }
  // What the lab itself records, and what the demos print of one shape.
  if (isRecord(given) && isRecord(given.transcript)) given = given.transcript;
  if (!isRecord(given) || given.format !== 'mrtr-transcript')
    throw new Error('This file is no transcript: its "format" is not "mrtr-transcript".');
  if (given.version !== 1) throw new Error(`This page reads transcripts of version 1, not ${given.version}.`);
  const { participants, events, title, end } = given;
  if (!Array.isArray(participants) || !participants.every(isParticipant))
    throw new Error('This transcript has no readable participants.');
  if (!Array.isArray(events)) throw new Error('This transcript has no events.');
  const wrong = events.findIndex((event) => !isEvent(event));
  if (wrong >= 0) throw new Error(`Event ${wrong + 1} of this transcript cannot be read.`);
  if (end !== undefined && !(isRecord(end) && (isRecord(end.result) || isRecord(end.error))))
    throw new Error('This transcript has no readable end.');
  return { ...given, title: String(title ?? 'A transcript') } as unknown as Conversation;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isParticipant = (one: unknown): boolean =>
  isRecord(one) && ['id', 'kind', 'label'].every((name) => typeof one[name] === 'string');

function isEvent(event: unknown): boolean {
  if (!isRecord(event) || typeof event.kind !== 'string' || !Object.hasOwn(EVENTS, event.kind)) return false;
  const fields = Object.entries(EVENTS[event.kind as TranscriptEvent['kind']]);
  if (!fields.every(([name, type]) => typeof event[name] === type && event[name] !== null)) return false;
  if (event.kind === 'answer') return event.reply === 'silence' || isRecord(event.reply);
  if (event.kind === 'lines') return isRecord(event.files) && Object.values(event.files).every(areLines);
  if (event.kind === 'roots') return Array.isArray(event.roots);
  return true;
}

const areLines = (lines: unknown): boolean =>
  isRecord(lines) &&
  Object.values(lines).every(
    (run) =>
      typeof run === 'number' ||
      (Array.isArray(run) &&
        run.length > 0 &&
        run.every((part) => Array.isArray(part) && part.every((one) => typeof one === 'number'))),
  );
