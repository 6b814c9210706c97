/** The rows of a conversation on the page, and the alignment of two conversations. */
import {
  compareLists,
  eventsOf,
  isCall,
  lanesOf,
  type Participant,
  type Row,
  rowsOf,
  tally,
} from '@mrtr/harness/transcript';
import type { Conversation } from '../../../src/protocol.ts';
import { statesIn } from '../../../src/states.ts';

export type Zoom = 'rounds' | 'wire';

/** The rows of a zoom. Sealed and opened state is drawn with its message; a rejection has its own row. */
export const rowsAt = (rows: readonly Row[], zoom: Zoom): readonly Row[] =>
  rows.filter(({ event }) =>
    zoom === 'wire'
      ? event.kind === 'message'
      : event.kind !== 'state' || event.phase === 'rejected' || event.phase === 'replayed',
  );

export const lanesAt = (conversation: Conversation, zoom: Zoom): readonly Participant[] =>
  lanesOf(conversation).filter(({ kind }) => zoom === 'rounds' || (kind !== 'person' && kind !== 'world'));

/** The key that equal rows of both sides share. Sizes and entry numbers may differ. */
const signOf = ({ event: { kind }, isSent, round, text }: Row): string =>
  kind === 'entry' ? `entry ${round}` : `${kind} ${isSent} ${text.replace(/\d+ B/, '')}`;

export interface Beat {
  readonly left?: Row | undefined;
  readonly right?: Row | undefined;
}

/** Aligns two conversations: equal rows share a beat, by their longest common subsequence. */
export function align(left: readonly Row[], right: readonly Row[]): readonly Beat[] {
  const [ours, theirs] = [left.values(), right.values()];
  return compareLists(left.map(signOf), right.map(signOf)).map((where) => ({
    ...(where !== 'right' && { left: ours.next().value }),
    ...(where !== 'left' && { right: theirs.next().value }),
  }));
}

/** The beat of the first broken promise or refusal: the recording's moment of proof. */
export function findProof(beats: readonly Beat[]): number | undefined {
  const at = beats.findIndex(({ left, right }) =>
    [left, right].some((row) => row?.tone === 'error' || row?.tone === 'refused'),
  );
  return at < 0 ? undefined : at;
}

type Count = readonly [number: string, name: string, bad: boolean];

/** The numbers of a conversation after `events`. From outside, effects and entries cannot be seen. */
export const countsAt = (
  { participants }: Pick<Conversation, 'participants'>,
  events: Conversation['events'],
): readonly Count[] =>
  participants.some(({ kind }) => kind === 'world')
    ? fromInside(events, participants)
    : fromOutside(events, participants);

/** The head's names for the parts of a handler, as in the lanes. */
const RUNS = {
  handler: 'entered',
  step: 'steps run',
  end: 'end step run',
  resolver: 'resolvers run',
  body: 'body run',
} as const;

function fromInside(
  events: Conversation['events'],
  participants: Conversation['participants'],
): readonly Count[] {
  const { rounds, questions, effects } = tally({ events });
  const rows = rowsOf({ events, participants });
  const [audits, writes] = [effects.audit ?? 0, effects.write ?? 0];
  const isBroken = (name: string) =>
    rows.some(({ event, tone }) => event.kind === 'effect' && event.name === name && tone === 'error');
  const parts = eventsOf('entry', events).map(({ part }) => part);
  const ran = [...new Set(parts.length > 0 ? parts : (['handler'] as const))];
  return [
    [`${audits}`, audits === 1 ? 'audit record' : 'audit records', isBroken('audit')],
    [`${writes}`, writes === 1 ? 'write' : 'writes', isBroken('write')],
    ...ran.map((part): Count => [`${parts.filter((one) => one === part).length}×`, RUNS[part], false]),
    [`${rounds}`, rounds === 1 ? 'round' : 'rounds', false],
    [`${questions}`, 'asked', false],
    [stateOf(events), 'state', false],
    [`${rows.at(-1)?.held.length ?? 0}`, 'held', false],
  ];
}

function fromOutside(
  events: Conversation['events'],
  participants: Conversation['participants'],
): readonly Count[] {
  const requests = eventsOf('message', events).filter(({ message }) => isCall(message)).length;
  const changes = rowsOf({ events, participants }).filter(({ event }) => event.kind === 'effect');
  return [
    [`${requests}`, requests === 1 ? 'request' : 'requests', false],
    [stateOf(events), 'state', false],
    [
      `${changes.length}`,
      changes.length === 1 ? 'change seen' : 'changes seen',
      changes.some(({ tone }) => tone === 'error'),
    ],
  ];
}

function stateOf(events: Conversation['events']): string {
  const latest = statesIn(events).at(-1);
  return latest === undefined ? '–' : `${latest.length} B`;
}
