/** The transcript of a call in a report, in the harness's format: cut to a size, and redacted. */
import { DECLARED } from '@mrtr/harness/internal';
import { asText, type Participant, type Transcript, type TranscriptEvent } from '@mrtr/harness/transcript';
import type { Evident, Turn } from '../session/session.ts';
import { asObject, isObject, type JsonObject, shorten, type Texts } from '../wire/json.ts';
import type { ReplyOutcome } from '../wire/outcome.ts';
import { isResponse } from '../wire/reply.ts';
import type { WireRequest } from '../wire/request.ts';
import type { Redact } from './redact.ts';

const MAX_DETAIL = 4000;
/** Limits on a record, in characters and messages: each finding has a record, and a report holds all of them. */
const MAX_OF_A_MESSAGE = 20_000;
const MAX_OF_A_KEY = 200;
const MAX_MESSAGES = 20;
const MAX_EVENTS = 500;

const LABELS: Texts = {
  client: 'mrtr-check',
  'other-client': 'mrtr-check, as another principal',
};

/** Redacts the content of a transcript, but not its keys and ids: a secret may be `client`, or a part of `events`. */
export function transcriptOf({ title, isOld, moments, last }: Evident, redact: Redact): Transcript {
  // Requests that were sent at once are drawn before their answers.
  const events = moments
    .flatMap((one) => {
      if ('request' in one) return messagesOf(one, isOld, redact);
      return one.kind === 'effect' ? { ...one, detail: redact(one.detail) } : one;
    })
    .toSorted((a, b) => a.at - b.at)
    .slice(0, MAX_EVENTS);
  const started = events[0]?.at ?? 0;
  const messages = events.filter((event) => event.kind === 'message');
  const ends = new Set(['client', 'server', ...messages.flatMap(({ from, to }) => [from, to ?? 'server'])]);
  const era = isOld ? 'legacy' : 'modern';
  return {
    format: 'mrtr-transcript',
    version: 1,
    title: redact(title),
    participants: [...ends].map((id): Participant => {
      const label = LABELS[id];
      return label
        ? { id, kind: 'client', label, era, name: 'mrtr-check' }
        : { id, kind: 'instance', label: id };
    }),
    events: events.map((event) => ({ ...event, at: Math.round(event.at - started) })),
    end: endOf(last, redact),
  };
}

function messagesOf(
  { request, reply, principal, instance, at }: Turn,
  isOld: boolean,
  redact: Redact,
): TranscriptEvent[] {
  const show = (message: unknown) => redact(cut(message)) as JsonObject;
  const client = principal === 'own' ? 'client' : 'other-client';
  const sent = { kind: 'message', from: client, to: instance, at } as const;
  const received = { kind: 'message', from: instance, to: client, at: at + reply.ms } as const;
  const values = reply.messages.map(({ value }) => value);
  const kept = values.filter(
    (value, place) => isObject(value) && (place < MAX_MESSAGES || isResponse(value)),
  );
  const lost = kept.some(isResponse) ? undefined : reply.failure;
  return [
    ...(isOld ? declare(request).map((message) => ({ ...sent, message: show(message) })) : []),
    { ...sent, message: show(isOld ? onSession(request) : withoutEnvelope(request)) },
    ...kept.map((value) => ({ ...received, message: show(value) })),
    ...(lost
      ? [{ ...received, message: show({ error: { code: 0, message: lost } }), lost: true } as const]
      : []),
  ];
}

/** The first message of a session whose client declares other capabilities: the few checks of it are about them. */
const declare = ({ capabilities, params: { requestState } }: WireRequest) =>
  capabilities && requestState === undefined ? [{ method: 'initialize', params: { capabilities } }] : [];

/** The message of an old client: the call, or its response to the question. */
function onSession({ method, params: { inputResponses, requestState, ...params } }: WireRequest) {
  return requestState === undefined
    ? { method, params }
    : { result: Object.values(asObject(inputResponses))[0] };
}

/** The envelope is the same in every request, so the record leaves it out. */
function withoutEnvelope({ method, params, capabilities }: WireRequest) {
  // Only a few checks declare other capabilities, and those are about them. So the record keeps them there.
  const declared = capabilities && { _meta: { [DECLARED]: capabilities } };
  return { jsonrpc: '2.0', method, params: { ...params, ...declared } };
}

function endOf(outcome: ReplyOutcome | undefined, redact: Redact): Transcript['end'] {
  if (outcome?.kind === 'completed' || outcome?.kind === 'tool-error')
    return { result: redact(cut(outcome.result)) as never };
  if (outcome?.kind !== 'error') return { error: { message: redact(`${outcome ?? 'not sent'}`) } };
  const { code, message } = outcome.error;
  const words = redact(shorten(asText(message), MAX_DETAIL));
  return { error: { message: words, ...(typeof code === 'number' && { code }) } };
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
