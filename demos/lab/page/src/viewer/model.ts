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

/** What ran up to an event: in the stretch that it belongs to, and before that. */
export interface Ran {
  readonly now: LinesRun;
  readonly before: readonly LinesRun[];
}

export function ranAt(events: readonly TranscriptEvent[], at: number): Ran {
  const stretches = events.flatMap((event, end) =>
    event.kind === 'lines' ? [{ end, files: event.files }] : [],
  );
  const current = stretches.find(({ end }) => end > at);
  const before = stretches.filter(({ end }) => end <= at).map(({ files }) => files);
  // Before the server has got the request, nothing of the next stretch runs. A later part of the handler has an entry.
  const begun = events
    .slice((stretches.findLast(({ end }) => end <= at)?.end ?? -1) + 1, at + 1)
    .some((event) => event.kind === 'entry' || (event.kind === 'message' && event.from === CLIENT));
  return { now: (begun && current?.files) || {}, before };
}

type Count = readonly [number: string, name: string, bad: boolean];

/** The numbers of a conversation, as they are after `events`. Who looks from outside sees no world and no entry. */
export const countsAt = (
  { participants }: Pick<Conversation, 'participants'>,
  events: Conversation['events'],
): readonly Count[] =>
  participants.some(({ kind }) => kind === 'world') ? fromInside(events) : fromOutside(events);

function fromInside(events: Conversation['events']): readonly Count[] {
  const { rounds, entries, questions, effects, framesHeld } = tally({ events });
  const [audits, writes] = [effects.audit ?? 0, effects.write ?? 0];
  const twice = (name: string) =>
    rowsOf({ events, participants: [] }).some(
      ({ event, tone }) => event.kind === 'effect' && event.name === name && tone === 'error',
    );
  return [
    [`${audits}`, audits === 1 ? 'audit entry' : 'audit entries', twice('audit')],
    [`${writes}`, writes === 1 ? 'write' : 'writes', twice('write')],
    [`${entries}×`, 'entered', false],
    [`${rounds}`, rounds === 1 ? 'round' : 'rounds', false],
    [`${questions}`, 'asked', false],
    [stateOf(events), 'state', false],
    [`${framesHeld}`, 'held', false],
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

/** How a line of a file looks at a step: whether it runs now, which parts of it do, and how often it ran. */
export function marksOf(file: string, { now, before }: Ran, line: number) {
  const run = now[file]?.[line];
  const count = [...before, now].reduce((sum, one) => sum + countOf(one[file]?.[line]), 0);
  return { isNow: countOf(run) > 0, isLit: count > 0, run, count };
}

const countOf = (run: Lines[string] | undefined): number =>
  typeof run === 'object' ? Math.max(...run.map(([, count]) => count)) : (run ?? 0);
