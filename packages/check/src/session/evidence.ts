/** The record of one call, in the harness's transcript format. */
import type { Happening, Participant, Transcript, TranscriptEvent } from '@mrtr/harness/transcript';
import { asText } from '@mrtr/harness/transcript';
import { isObject, type JsonObject } from '../wire/json.ts';
import { describeOutcome, type Outcome } from '../wire/outcome.ts';
import { isResponse, type Reply } from '../wire/reply.ts';
import { shorten } from '../wire/text.ts';

const MOST = 4000;

type ClientId = 'client' | 'other-client';

const LABELS: ReadonlyMap<string, string> = new Map([
  ['client', 'mrtr-check'],
  ['other-client', 'mrtr-check, as another principal'],
]);

export class Evidence {
  readonly #title: string;
  readonly #era: 'modern' | 'legacy';
  readonly #started: number;
  readonly #events: TranscriptEvent[];

  constructor(title: string, from?: Evidence, era: 'modern' | 'legacy' = 'modern') {
    this.#era = from ? from.#era : era;
    this.#title = title;
    this.#started = from ? from.#started : performance.now();
    this.#events = from ? [...from.#events] : [];
  }

  copy(): Evidence {
    return new Evidence(this.#title, this);
  }

  get length(): number {
    return this.#events.length;
  }

  /** The record as it was when it had so many events. */
  until(length: number): Evidence {
    const earlier = this.copy();
    earlier.#events.length = Math.min(length, earlier.#events.length);
    return earlier;
  }

  recordSent(to: string, message: JsonObject, client: ClientId = 'client'): void {
    this.#add({ kind: 'message', from: client, to, message: cut(message) as JsonObject });
  }

  recordReceived(from: string, value: unknown, client: ClientId = 'client'): void {
    if (isObject(value)) this.#add({ kind: 'message', from, to: client, message: cut(value) as JsonObject });
  }

  recordReply(from: string, { messages, failure }: Reply, client: ClientId = 'client'): void {
    for (const { value } of messages) this.recordReceived(from, value, client);
    if (!messages.some(({ value }) => isResponse(value)))
      this.recordLoss(from, failure ?? 'no answer', client);
  }

  recordLoss(from: string, reason: string, client: ClientId = 'client'): void {
    const message = { error: { code: 0, message: reason } };
    this.#add({ kind: 'message', from, to: client, message, lost: true });
  }

  effect(detail: string): void {
    this.#add({ kind: 'effect', instance: 'server', name: 'probe', detail: shorten(detail, MOST) });
  }

  recordRestart(instance: string): void {
    this.#add({ kind: 'kill', instance });
    this.#add({ kind: 'restart', instance });
  }

  transcript(outcome: Outcome | undefined): Transcript {
    const messages = this.#events.filter((event) => event.kind === 'message');
    const ends = new Set(['client', 'server', ...messages.flatMap(({ from, to }) => [from, to ?? 'server'])]);
    const participants = [...ends].map((id): Participant => {
      if (!LABELS.has(id)) return { id, kind: 'instance', label: id };
      return { id, kind: 'client', label: LABELS.get(id) ?? id, era: this.#era, name: 'mrtr-check' };
    });
    const head = { format: 'mrtr-transcript', version: 1, title: this.#title } as const;
    return { ...head, participants, events: this.#events, end: endOf(outcome) };
  }

  #add(happening: Happening): void {
    this.#events.push({ ...happening, at: Math.round(performance.now() - this.#started) });
  }
}

function endOf(outcome: Outcome | undefined): Transcript['end'] {
  if (outcome?.kind === 'completed' || outcome?.kind === 'tool-error')
    return { result: cut(outcome.result) as never };
  if (outcome?.kind === 'error') {
    const { code, message } = outcome.error;
    return { error: { message: asText(message), ...(typeof code === 'number' && { code }) } };
  }
  return { error: { message: outcome === undefined ? 'not sent' : describeOutcome(outcome) } };
}

function cut(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length > MOST ? `${shorten(value, 80)} (${value.length} characters)` : value;
  if (Array.isArray(value)) return value.map(cut);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cut(member)]));
}
