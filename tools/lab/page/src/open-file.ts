/** Reads a transcript from an untrusted file: checks it, and shows its values only as text. */
import type { TranscriptEvent } from '@mrtr/harness/transcript';
import type { Conversation } from '../../src/protocol.ts';

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isNumber: Check = (value) => typeof value === 'number';
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isPlace: Check = (place) => Array.isArray(place) && isText(place[0]) && isNumber(place[1]);
const isRun: Check = (run) => Array.isArray(run) && run.every(isNumber);
const isCount: Check = (count) =>
  isNumber(count) || (Array.isArray(count) && count.length > 0 && count.every(isRun));

const PARTICIPANT = { id: isText, kind: isText, label: isText };

const EVENTS: Readonly<Record<TranscriptEvent['kind'], Readonly<Record<string, Check>>>> = {
  message: { from: isText, message: isRecord },
  question: { to: isText, id: isNumber, message: isText, framesHeld: isNumber },
  answer: { from: isText, id: isNumber, reply: (reply) => reply === 'silence' || isRecord(reply) },
  visit: { from: isText, url: isText, status: isNumber },
  model: { result: isRecord },
  roots: { roots: Array.isArray },
  entry: { instance: isText, part: isText },
  lines: {
    instance: isText,
    files: (files) => areAll(files, (lines) => areAll(lines, isCount)),
    order: (order = []) => Array.isArray(order) && order.every(isPlace),
  },
  guard: { instance: isText, key: isText, phase: isText },
  effect: { instance: isText, name: isText, detail: isText },
  state: { instance: isText, phase: isText, bytes: isNumber },
  kill: { instance: isText },
  restart: { instance: isText },
};

const areAll = (values: unknown, check: Check): boolean =>
  isRecord(values) && Object.values(values).every(check);

const fits = (value: unknown, checks: Readonly<Record<string, Check>>): boolean =>
  isRecord(value) && Object.entries(checks).every(([name, check]) => check(value[name]));

const MAX_BYTES = 10_000_000;

export function readTranscript(text: string): Conversation {
  if (text.length > MAX_BYTES) throw new Error('This file is too large for a transcript.');
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Error('This file is not JSON.');
  }
  // A recording of the lab, or a demo's output for one shape.
  if (isRecord(given) && isRecord(given.transcript)) given = given.transcript;
  if (!isRecord(given) || given.format !== 'mrtr-transcript')
    throw new Error('This file is no transcript: its "format" is not "mrtr-transcript".');
  if (given.version !== 1) throw new Error(`This page reads transcripts of version 1, not ${given.version}.`);
  const { participants, events, title, end } = given;
  if (!Array.isArray(participants) || !participants.every((one) => fits(one, PARTICIPANT)))
    throw new Error('This transcript has no readable participants.');
  if (!Array.isArray(events)) throw new Error('This transcript has no events.');
  const wrong = events.findIndex((event) => !isEvent(event));
  if (wrong >= 0) throw new Error(`Event ${wrong + 1} of this transcript cannot be read.`);
  if (end !== undefined && !(isRecord(end) && (isRecord(end.result) || isRecord(end.error))))
    throw new Error('This transcript has no readable end.');
  return { ...given, title: String(title ?? 'A transcript') } as unknown as Conversation;
}

function isEvent(event: unknown): boolean {
  const kind = isRecord(event) ? `${event.kind}` : '';
  return Object.hasOwn(EVENTS, kind) && fits(event, EVENTS[kind as TranscriptEvent['kind']]);
}
