/** The rows of a conversation as the page shows them, and how two conversations stand beside each other. */
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

/** The rows of a zoom. State that is sealed or opened is drawn with the message that carries it; a rejection is a row. */
export const rowsAt = (rows: readonly Row[], zoom: Zoom): readonly Row[] =>
  rows.filter(({ event }) =>
    zoom === 'wire'
      ? event.kind === 'message'
      : event.kind !== 'state' || event.phase === 'rejected' || event.phase === 'replayed',
  );

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

/** The beat of the first broken promise or refusal: the moment that proves what a recording is about. */
export function findProof(beats: readonly Beat[]): number | undefined {
  const at = beats.findIndex(({ left, right }) =>
    [left, right].some((row) => row?.tone === 'error' || row?.tone === 'refused'),
  );
  return at < 0 ? undefined : at;
}

type Count = readonly [number: string, name: string, bad: boolean];

/** The numbers of a conversation, as they are after `events`. Who looks from outside sees no world and no entry. */
export const countsAt = (
  { participants }: Pick<Conversation, 'participants'>,
  events: Conversation['events'],
): readonly Count[] =>
  participants.some(({ kind }) => kind === 'world') ? fromInside(events, participants) : fromOutside(events);

/** A part of a handler by what the head calls it; the lanes say the same of each. */
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
  const latest = statesIn(events).at(-1);
  return latest === undefined ? '–' : `${latest.length} B`;
}
