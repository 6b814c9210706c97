/** The record of one call, in the harness's transcript format. */
import {
  asText,
  type Happening,
  type Participant,
  type Transcript,
  type TranscriptEvent,
} from '@mrtr/harness/transcript';
import { isObject, type JsonObject, shorten } from '../wire/json.ts';
import type { ReplyOutcome } from '../wire/outcome.ts';
import { isResponse, type ServerReply } from '../wire/reply.ts';

const MAX_DETAIL = 4000;
/** Limits on a record, in characters and messages: each finding has a record, and a report holds all of them. */
const MAX_OF_A_MESSAGE = 20_000;
const MAX_OF_A_KEY = 200;
const MAX_MESSAGES = 20;
const MAX_EVENTS = 500;

type ClientId = 'client' | 'other-client';

const LABELS: Readonly<Record<string, string>> = {
  client: 'mrtr-check',
  'other-client': 'mrtr-check, as another principal',
};

export class Evidence {
  readonly #title: string;
  readonly #era: 'modern' | 'legacy';
  #started = performance.now();
  #events: TranscriptEvent[] = [];

  constructor(title: string, era: 'modern' | 'legacy' = 'modern') {
    this.#title = title;
    this.#era = era;
  }

  /** A copy of the record, or of its first `length` events. */
  copy(length = this.length) {
    const copy = new Evidence(this.#title, this.#era);
    copy.#started = this.#started;
    copy.#events = this.#events.slice(0, length);
    return copy;
  }

  get length() {
    return this.#events.length;
  }

  recordSent(to: string, message: JsonObject, client: ClientId = 'client') {
    this.#add({ kind: 'message', from: client, to, message: cut(message) as JsonObject });
  }

  recordReply(from: string, { messages, failure }: ServerReply, client: ClientId = 'client') {
    const kept = messages.filter(({ value }, at) => at < MAX_MESSAGES || isResponse(value));
    for (const { value } of kept)
      if (isObject(value))
        this.#add({ kind: 'message', from, to: client, message: cut(value) as JsonObject });
    if (!failure || messages.some(({ value }) => isResponse(value))) return;
    const message = { error: { code: 0, message: failure } };
    this.#add({ kind: 'message', from, to: client, message, lost: true });
  }

  effect(detail: string) {
    this.#add({ kind: 'effect', instance: 'server', name: 'probe', detail: shorten(detail, MAX_DETAIL) });
  }

  /** Marks the last effect as one that the approval had before, so that drawings show it as a broken promise. */
  markRepeated() {
    const at = this.#events.findLastIndex(({ kind }) => kind === 'effect');
    const event = this.#events[at];
    if (event?.kind === 'effect') this.#events[at] = { ...event, again: true };
  }

  recordRestart(instance: string) {
    this.#add({ kind: 'kill', instance });
    this.#add({ kind: 'restart', instance });
  }

  transcript(outcome: ReplyOutcome | undefined): Transcript {
    const messages = this.#events.filter((event) => event.kind === 'message');
    const ends = new Set(['client', 'server', ...messages.flatMap(({ from, to }) => [from, to ?? 'server'])]);
    const participants = [...ends].map((id): Participant => {
      const label = LABELS[id];
      if (!label) return { id, kind: 'instance', label: id };
      return { id, kind: 'client', label, era: this.#era, name: 'mrtr-check' };
    });
    const head = { format: 'mrtr-transcript', version: 1, title: this.#title } as const;
    return { ...head, participants, events: this.#events, end: endOf(outcome) };
  }

  #add(happening: Happening) {
    if (this.#events.length >= MAX_EVENTS) return;
    this.#events.push({ ...happening, at: Math.round(performance.now() - this.#started) });
  }
}

function endOf(outcome: ReplyOutcome | undefined): Transcript['end'] {
  if (outcome?.kind === 'completed' || outcome?.kind === 'tool-error')
    return { result: cut(outcome.result) as never };
  if (outcome?.kind === 'error') {
    const { code, message } = outcome.error;
    return {
      error: { message: shorten(asText(message), MAX_DETAIL), ...(typeof code === 'number' && { code }) },
    };
  }
  return { error: { message: `${outcome ?? 'not sent'}` } };
}

/** Returns the value with long strings shortened, and without the members that exceed the limit of a message. */
function cut(value: unknown, room = { left: MAX_OF_A_MESSAGE }) {
  if (typeof value === 'string') {
    const text = value.length > MAX_DETAIL ? `${shorten(value, 80)} (${value.length} characters)` : value;
    room.left -= text.length;
    return text;
  }
  if (!isObject(value) && !Array.isArray(value)) return value;
  const members: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    const name = shorten(key, MAX_OF_A_KEY);
    room.left -= name.length + 8;
    if (room.left < 0) break;
    members.push([name, cut(member, room)]);
  }
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
}
