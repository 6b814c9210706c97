/** The rows of a conversation as the page shows them, and how two conversations stand beside each other. */
import {
  CLIENT,
  type LinesRun,
  lanesOf,
  type Participant,
  type Row,
  type TranscriptEvent,
} from '@mrtr/harness/transcript';
import type { Conversation } from '../../../src/protocol.ts';

/** How near one looks. */
export type Zoom = 'rounds' | 'wire';

/** The rows that a zoom shows. */
export const rowsAt = (rows: readonly Row[], zoom: Zoom): readonly Row[] =>
  zoom === 'rounds' ? rows : rows.filter(({ event }) => event.kind === 'message');

/** The lanes that a zoom shows. */
export const lanesAt = (conversation: Conversation, zoom: Zoom): readonly Participant[] =>
  lanesOf(conversation).filter(({ kind }) => zoom === 'rounds' || (kind !== 'person' && kind !== 'world'));

/** What makes a row the same as one of the other side: sizes and the number of an entry may differ. */
const signOf = ({ event: { kind }, isSent, round, text }: Row): string =>
  kind === 'entry' ? `entry ${round}` : `${kind} ${isSent} ${text.replace(/\d+ B/, '')}`;

/** One step of two conversations: a row of each, or of one alone. */
export interface Beat {
  readonly left?: Row | undefined;
  readonly right?: Row | undefined;
}

/** Lays two conversations beside each other: equal rows in one beat, by their longest common subsequence. */
export function align(left: readonly Row[], right: readonly Row[]): readonly Beat[] {
  const signs = [left.map(signOf), right.map(signOf)] as const;
  const best = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0));
  const at = (one: number, other: number) => best[one]?.[other] ?? 0;
  for (let one = left.length - 1; one >= 0; one--) {
    for (let other = right.length - 1; other >= 0; other--) {
      (best[one] as number[])[other] =
        signs[0][one] === signs[1][other]
          ? at(one + 1, other + 1) + 1
          : Math.max(at(one + 1, other), at(one, other + 1));
    }
  }
  const beats: Beat[] = [];
  let [one, other] = [0, 0];
  while (one < left.length || other < right.length) {
    const [here, there] = [left[one], right[other]];
    if (here && there && signs[0][one] === signs[1][other]) {
      beats.push({ left: here, right: there });
      one++;
      other++;
    } else if (here && (!there || at(one + 1, other) >= at(one, other + 1))) {
      beats.push({ left: here });
      one++;
    } else {
      beats.push({ right: there });
      other++;
    }
  }
  return beats;
}

/** What ran up to an event: in the stretch that it belongs to, and before that. */
export interface Ran {
  readonly now: LinesRun;
  readonly before: readonly LinesRun[];
}

/** The lines that had run, or were running, when event `at` happened. */
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
