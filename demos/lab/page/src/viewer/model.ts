/** The rows of a conversation as the page shows them, and how two conversations stand beside each other. */
import {
  CLIENT,
  compareLists,
  type LinesRun,
  lanesOf,
  type Participant,
  type Row,
  type TranscriptEvent,
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
