/** The rows of a conversation as the page shows them, and how two conversations stand beside each other. */
import {
  CLIENT,
  compareLists,
  eventsOf,
  isCall,
  type Lines,
  type LinesRun,
  lanesOf,
  objectIn,
  type Participant,
  type Row,
  rowsOf,
  type TranscriptEvent,
  tally,
  type WireMessage,
} from '@mrtr/harness/transcript';
import type { Conversation } from '../../../src/protocol.ts';

export type Zoom = 'rounds' | 'wire';

export const rowsAt = (rows: readonly Row[], zoom: Zoom): readonly Row[] =>
  zoom === 'rounds' ? rows : rows.filter(({ event }) => event.kind === 'message');

export const lanesAt = (conversation: Conversation, zoom: Zoom): readonly Participant[] =>
  lanesOf(conversation).filter(({ kind }) => zoom === 'rounds' || (kind !== 'person' && kind !== 'world'));

/** What makes a row the same as one of the other side: sizes and the number of an entry may differ. */
const signOf = ({ event: { kind }, isSent, round, text }: Row): string =>
  kind === 'entry' ? `entry ${round}` : `${kind} ${isSent} ${text.replace(/\d+ B/, '')}`;

export interface Beat {
  readonly left?: Row | undefined;
  readonly right?: Row | undefined;
}

/** Lays two conversations beside each other: equal rows in one beat, by their longest common subsequence. */
export function align(left: readonly Row[], right: readonly Row[]): readonly Beat[] {
  const [ours, theirs] = [left.values(), right.values()];
  return compareLists(left.map(signOf), right.map(signOf)).map((where) => ({
    ...(where !== 'right' && { left: ours.next().value }),
    ...(where !== 'left' && { right: theirs.next().value }),
  }));
}

/** What ran up to an event: since the latest request or entry, where that happened; and all of it, by its entry. */
export interface Ran {
  readonly now: readonly LinesRun[];
  readonly all: readonly { readonly entry: number; readonly files: LinesRun }[];
}

/** `at` is the place of the latest event that is known: a line is lit when it has run, and not before. */
export function ranAt(events: readonly TranscriptEvent[], at: number): Ran {
  let [now, here]: [LinesRun[], string | undefined] = [[], undefined];
  const all: Ran['all'][number][] = [];
  const entries = new Map<string, number>();
  for (const [place, event] of events.slice(0, at + 1).entries()) {
    const reached = event.kind === 'entry' ? event.instance : receiverOf(event);
    if (reached !== undefined) [now, here] = [[], reached];
    if (event.kind === 'entry') entries.set(event.instance, place);
    if (event.kind !== 'lines') continue;
    all.push({ entry: entries.get(event.instance) ?? -1, files: event.files });
    if (event.instance === here) now.push(event.files);
  }
  return { now, all };
}

/** The instance that a message of the client reached. */
const receiverOf = (event: TranscriptEvent): string | undefined =>
  event.kind === 'message' && event.from === CLIENT && !event.lost && !isNotice(event.message)
    ? event.to
    : undefined;

const isNotice = ({ method }: WireMessage): boolean =>
  typeof method === 'string' && method.startsWith('notifications/');

type Count = readonly [number: string, name: string, bad: boolean];

/** The numbers of a conversation, as they are after `events`. Who looks from outside sees no world and no entry. */
export const countsAt = (
  { participants }: Pick<Conversation, 'participants'>,
  events: Conversation['events'],
): readonly Count[] =>
  participants.some(({ kind }) => kind === 'world') ? fromInside(events) : fromOutside(events);

/** A part of a handler by what the head calls it; the lanes say the same of each. */
const RUNS = {
  handler: 'entered',
  step: 'steps run',
  end: 'end step run',
  resolver: 'resolvers run',
  body: 'body run',
} as const;

function fromInside(events: Conversation['events']): readonly Count[] {
  const { rounds, questions, effects } = tally({ events });
  const rows = rowsOf({ events, participants: [] });
  const [audits, writes] = [effects.audit ?? 0, effects.write ?? 0];
  const isBroken = (name: string) =>
    rows.some(({ event, tone }) => event.kind === 'effect' && event.name === name && tone === 'error');
  const parts = eventsOf('entry', events).map(({ part }) => part);
  const ran = [...new Set(parts.length > 0 ? parts : (['handler'] as const))];
  return [
    [`${audits}`, audits === 1 ? 'audit entry' : 'audit entries', isBroken('audit')],
    [`${writes}`, writes === 1 ? 'write' : 'writes', isBroken('write')],
    ...ran.map((part): Count => [`${parts.filter((one) => one === part).length}×`, RUNS[part], false]),
    [`${rounds}`, rounds === 1 ? 'round' : 'rounds', false],
    [`${questions}`, 'asked', false],
    [stateOf(events), 'state', false],
    [`${rows.at(-1)?.held.length ?? 0}`, 'held', false],
  ];
}

function fromOutside(events: Conversation['events']): readonly Count[] {
  const requests = eventsOf('message', events).filter(({ message }) => isCall(message)).length;
  const changes = eventsOf('effect', events).length;
  return [
    [`${requests}`, requests === 1 ? 'request' : 'requests', false],
    [stateOf(events), 'state', false],
    [`${changes}`, changes === 1 ? 'change seen' : 'changes seen', false],
  ];
}

function stateOf(events: Conversation['events']): string {
  const sizes = eventsOf('message', events).flatMap(({ message, from }) => {
    const { requestState } = objectIn(message, 'result');
    return from !== CLIENT && typeof requestState === 'string' ? [requestState.length] : [];
  });
  return sizes.length > 0 ? `${sizes.at(-1)} B` : '–';
}

/** How a line of a file looks at a step: whether it has run, runs now and where, and in how many entries it ran. */
export function marksOf(file: string, { now, all }: Ran, line: number) {
  const ran = all.filter(({ files }) => files[file]?.[line] !== undefined);
  const run = now.map((files) => files[file]?.[line]).reduce(mergeRuns, undefined);
  const entries = new Set(ran.map(({ entry }) => entry).filter((entry) => entry >= 0));
  return { isNow: run !== undefined, isLit: ran.length > 0, run, count: entries.size };
}

type Run = Lines[string] | undefined;

/** What ran of a line in two stretches of one entry. */
function mergeRuns(one: Run, other: Run): Run {
  if (typeof one !== 'object' || typeof other !== 'object')
    return typeof one === 'object' ? (other ?? one) : (one ?? other);
  const countAt = (run: typeof one, at: number) => run.findLast(([column]) => column <= at)?.[1] ?? 0;
  const columns = [...new Set([...one, ...other].map(([column]) => column))].sort((a, b) => a - b);
  return columns.map((at) => [at, Math.max(countAt(one, at), countAt(other, at))] as const);
}
