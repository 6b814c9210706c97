/** The rows of a conversation on the page, and the alignment of two conversations. */
import { compareLists, eventsOf, isCall, lanesOf, type Row, rowsOf, tally } from '@mrtr/harness/transcript';
import type { TranscriptSoFar } from '../../../src/protocol.ts';
import { statesIn } from '../../../src/states.ts';

export const ZOOMS = [
  ['rounds', 'Rounds', 'every round of it (1)'],
  ['wire', 'Wire', 'the messages (2)'],
] as const;

export type Zoom = (typeof ZOOMS)[number][0];

/** Sealed and opened state is drawn with its message; a rejection has its own row. */
const isIn = ({ event }: Row, zoom: Zoom) =>
  zoom === 'wire'
    ? event.kind === 'message'
    : event.kind !== 'state' || event.phase === 'rejected' || event.phase === 'replayed';

export const lanesAt = (conversation: TranscriptSoFar, zoom: Zoom) =>
  lanesOf(conversation).filter(({ kind }) => zoom === 'rounds' || (kind !== 'person' && kind !== 'world'));

/** The key that equal rows of both sides share. Sizes and entry numbers may differ. */
const signOf = ({ event: { kind }, isSent, round, text }: Row) =>
  kind === 'entry' ? `entry ${round}` : `${kind} ${isSent} ${text.replace(/\d+ B/, '')}`;

export interface Beat {
  readonly left?: Row | undefined;
  readonly right?: Row | undefined;
}

/** Aligns one or two conversations: equal rows share a beat, by their longest common subsequence. */
export function beatsOf(conversations: readonly TranscriptSoFar[], zoom: Zoom): readonly Beat[] {
  const [left = [], right = []] = conversations.map((one) => rowsOf(one).filter((row) => isIn(row, zoom)));
  const [ours, theirs] = [left.values(), right.values()];
  return compareLists(left.map(signOf), right.map(signOf)).map((where) => ({
    ...(where !== 'right' && { left: ours.next().value }),
    ...(where !== 'left' && { right: theirs.next().value }),
  }));
}

/** The beat of the first broken promise or refusal: the recording's moment of proof. */
export function findProof(beats: readonly Beat[]) {
  const at = beats.findIndex(({ left, right }) =>
    [left, right].some((row) => row?.tone === 'error' || row?.tone === 'refused'),
  );
  return at < 0 ? undefined : at;
}

/** Whether what a server writes, and whether its handlers wait, was seen. */
export const isSeenInside = ({ participants }: Pick<TranscriptSoFar, 'participants'>) =>
  participants.some(({ kind }) => kind === 'world');

/** Whether an effect broke a promise. */
export const isBroken = ({ event, tone }: Row) => event.kind === 'effect' && tone === 'error';

/** The tone of the latest message. */
export const latestTone = (rows: readonly Row[]) =>
  rows.findLast(({ event }) => event.kind === 'message')?.tone;

type Count = readonly [number: string, name: string, bad?: boolean];

/** The numbers of a conversation after `events`. */
export function countsAt(
  { participants }: TranscriptSoFar,
  events: TranscriptSoFar['events'],
): readonly Count[] {
  const rows = rowsOf({ events, participants });
  const latest = statesIn(events).at(-1);
  const state: Count = [latest === undefined ? '–' : `${latest.length} B`, 'state'];
  // From outside, effects and entries cannot be seen.
  if (!isSeenInside({ participants })) {
    const requests = eventsOf('message', events).filter(
      ({ message, replaced }) => isCall(message) && !replaced,
    );
    const changes = rows.filter(({ event }) => event.kind === 'effect');
    const isNamed = changes.some(({ event }) => event.kind === 'effect' && event.name !== 'probe');
    const [one, several] = isNamed ? ['effect', 'effects'] : ['change seen', 'changes seen'];
    return [
      count(requests.length, 'request'),
      [`${eventsOf('entry', events).length}×`, RUNS.handler],
      state,
      count(changes.length, one as string, several, changes.some(isBroken)),
    ];
  }
  const { rounds, questions, effects } = tally({ events });
  const countEffects = (name: string, words: string) => {
    const isBad = rows.filter(isBroken).some(({ event }) => 'name' in event && event.name === name);
    return count(effects[name] ?? 0, words, `${words}s`, isBad);
  };
  const parts = eventsOf('entry', events).map(({ part }) => part);
  const ran = new Set(parts.length > 0 ? parts : (['handler'] as const));
  return [
    countEffects('audit', 'audit record'),
    countEffects('write', 'write'),
    ...[...ran].map((part): Count => [`${parts.filter((one) => one === part).length}×`, RUNS[part]]),
    count(rounds, 'round'),
    [`${questions}`, 'asked'],
    state,
    [`${rows.at(-1)?.held.length ?? 0}`, 'held'],
  ];
}

const count = (number: number, one: string, several = `${one}s`, bad = false): Count => [
  `${number}`,
  number === 1 ? one : several,
  bad,
];

/** The head's names for the parts of a handler, as in the lanes. */
const RUNS = {
  handler: 'entered',
  step: 'steps run',
  end: 'end step run',
  resolver: 'resolvers run',
  body: 'body run',
} as const;
