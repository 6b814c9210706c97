/**
 * What is true of a conversation after some of its events, counted by plain walks over them. It judges the layout and
 * everything that draws it, so it imports none of their code: types alone.
 */
import type { Message, TranscriptEvent, WireMessage } from '@mrtr/harness/transcript';

type Events = readonly TranscriptEvent[];
type Of<Kind extends TranscriptEvent['kind']> = Extract<TranscriptEvent, { kind: Kind }>;

const CALLS = ['tools/call', 'prompts/get', 'resources/read'];
const ASKS = ['elicitation/create', 'sampling/createMessage', 'roots/list'];

const resultOf = ({ result }: WireMessage) => (result ?? {}) as Record<string, unknown>;
const ofKind = <Kind extends TranscriptEvent['kind']>(events: Events, kind: Kind) =>
  events.filter((event): event is Of<Kind> => event.kind === kind);
const isFromClient = (event: TranscriptEvent): event is Message & { at: number } =>
  event.kind === 'message' && event.from === 'client';
const isNotice = ({ message }: Message): boolean => String(message.method).startsWith('notifications/');
/** The instance that a message of the client reached. */
const reached = (event: TranscriptEvent): string | undefined =>
  isFromClient(event) && !isNotice(event) && !event.lost ? event.to : undefined;
const isAsking = ({ from, message }: Message): boolean =>
  from !== 'client' &&
  (ASKS.includes(String(message.method)) || resultOf(message).resultType === 'input_required');

/** The messages that were drawn, and of these the ones that reached nobody. */
export function countMessages(events: Events) {
  const drawn = ofKind(events, 'message').filter((one) => !isNotice(one));
  const lost = drawn.filter((one) => one.lost || one.to === undefined);
  const sent = drawn.filter(({ from }) => from === 'client');
  return { lost: lost.length, arrived: sent.filter((one) => !lost.includes(one)).length };
}

/** A request that was answered reached its server, so it is not lost; one that somebody replaced is. */
export const falselyLost = (events: Events): Events =>
  events.filter(
    (event, at) =>
      isFromClient(event) &&
      event.lost &&
      !events.slice(at).some((later) => isFromClient(later) && later.altered) &&
      events.some(
        (other) => other.kind === 'message' && !isFromClient(other) && other.message.id === event.message.id,
      ),
  );

/** The lanes that hold a handler which waits in memory, one for each such handler. */
export function countHeld(events: Events): readonly string[] {
  let asked: string[] = [];
  let held: string[] = [];
  let live = 0;
  const takeOne = (lanes: string[], lane: string) => {
    const at = lanes.lastIndexOf(lane);
    return lanes.filter((_, index) => index !== at);
  };
  for (const event of events) {
    if (event.kind === 'message' && isAsking(event)) {
      asked.push(event.from);
      if (event.message.method !== undefined) live++;
    }
    const frames = 'framesHeld' in event ? Math.max(event.framesHeld, live) : undefined;
    if (frames !== undefined) held = frames === 0 ? [] : asked.slice(-frames);
    const to = reached(event);
    if (to !== undefined) [asked, held] = [takeOne(asked, to), takeOne(held, to)];
    if (isFromClient(event) && event.message.method === undefined) live--;
    if (event.kind === 'kill' || event.kind === 'restart')
      [asked, held] = [asked, held].map((lanes) => lanes.filter((lane) => lane !== event.instance)) as [
        [],
        [],
      ];
  }
  return held;
}

const HEAD_WORDS = {
  handler: 'entered',
  step: 'steps run',
  end: 'end step run',
  resolver: 'resolvers run',
  body: 'body run',
} as const;

/** The numbers in the head, by their words in the singular. */
export function countAll(events: Events): Readonly<Record<string, string>> {
  const effects = (name: string) => `${ofKind(events, 'effect').filter((one) => one.name === name).length}`;
  const requests = events.filter(
    (event) =>
      isFromClient(event) && CALLS.includes(String(event.message.method)) && !event.lost && !event.again,
  );
  const entries: Record<string, string> = {};
  for (const { part } of ofKind(events, 'entry'))
    entries[HEAD_WORDS[part]] = `${Number.parseInt(entries[HEAD_WORDS[part]] ?? '0', 10) + 1}×`;
  const state = ofKind(events, 'message')
    .filter(({ from }) => from !== 'client')
    .map(({ message }) => resultOf(message).requestState)
    .findLast((one) => typeof one === 'string');
  return {
    'audit entry': effects('audit'),
    write: effects('write'),
    ...(Object.keys(entries).length > 0 ? entries : { entered: '0×' }),
    round: `${requests.length}`,
    asked: `${ofKind(events, 'question').length}`,
    state: state === undefined ? '–' : `${String(state).length} B`,
    held: `${countHeld(events).length}`,
  };
}

/** What a row is: a promise that was broken, a refusal that did its work, or neither. */
export function judge(events: Events, at: number): 'broken' | 'refused' | undefined {
  const [event, before] = [events[at], events.slice(0, at)];
  if (event?.kind === 'effect') {
    const isSecond = ofKind(before, 'effect').some(
      ({ name, detail }) => name === event.name && detail === event.detail,
    );
    const request = before.findLast((one) => reached(one) !== undefined);
    const isForged = event.name !== 'audit' && request?.kind === 'message' && request.altered;
    return isSecond || isForged ? 'broken' : undefined;
  }
  if (event?.kind === 'state') return event.phase === 'rejected' ? 'refused' : undefined;
  if (event?.kind !== 'message') return undefined;
  if (event.message.error === undefined && resultOf(event.message).isError !== true) return undefined;
  const since = before.slice(before.findLastIndex((one) => reached(one) === event.from));
  return since.some((one) => one.kind === 'state' && one.phase === 'rejected' && one.instance === event.from)
    ? 'refused'
    : 'broken';
}

/** The lines of a file: in how many entries each ran, and which run now. */
export function countLines(events: Events, file: string) {
  const entriesOf = new Map<string, Set<number>>();
  const isHere = (event: TranscriptEvent) => (event.kind === 'entry' ? event.instance : reached(event));
  const begun = events.findLastIndex((event) => isHere(event) !== undefined);
  const here = events[begun] && isHere(events[begun]);
  const now = new Set<string>();
  for (const [at, event] of events.entries()) {
    if (event.kind !== 'lines') continue;
    const entry = events
      .slice(0, at)
      .findLastIndex((one) => one.kind === 'entry' && one.instance === event.instance);
    for (const line of Object.keys(event.files[file] ?? {})) {
      entriesOf.set(line, (entriesOf.get(line) ?? new Set()).add(entry));
      if (at > begun && event.instance === here) now.add(line);
    }
  }
  return [...entriesOf].map(([line, entries]) => ({
    line: Number(line),
    count: [...entries].filter((entry) => entry >= 0).length,
    isNow: now.has(line),
  }));
}
