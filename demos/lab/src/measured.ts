/** The measured table of the lab: one row for each option, and for each cell the recordings that prove it. */
import { type Tally, tally } from '@mrtr/harness/transcript';
import { sameEnd } from '@mrtr/matrix';
import type { Measured, Recording, Recordings } from './protocol.ts';

type Cells = Recordings['rows'][number]['cells'];

/** The columns, in the README's words. */
export const COLUMNS: Recordings['columns'] = [
  {
    id: 'entered',
    title: 'Entered',
    explains: "How often the author's code is entered: one question / two.",
  },
  { id: 'audit', title: 'Audit entries', explains: 'Side effects of one call. It should be 1.' },
  { id: 'state', title: 'State, bytes', explains: 'What each round carries through the client.' },
  { id: 'frames', title: 'Frames held', explains: 'Handlers parked in memory while the user thinks.' },
  { id: 'fleet', title: 'Another instance', explains: 'Each round reaches another instance.' },
  { id: 'restart', title: 'After a restart', explains: 'The instance is restarted between the rounds.' },
  { id: 'old', title: 'Old client', explains: 'A client at 2025-11-25 gets: connection held / stateless.' },
  { id: 'mute', title: 'Cannot be asked', explains: 'A client that declared no elicitation gets.' },
  {
    id: 'twice',
    title: 'Retry sent twice',
    explains: 'Writes when the network delivers the retry twice (with `singleUse: false`).',
  },
  {
    id: 'forged',
    title: 'Forged',
    explains: 'An answer that nobody asked for / the state of another call.',
  },
];

/** The row of one option, from its recordings by situation. */
export function cellsOf(recordings: ReadonlyMap<string, Recording>): Cells {
  const found = (id: string) => recordings.get(id) as Recording;
  const proofs = (...ids: string[]) => ({ proofs: ids.map((id) => found(id).id) });
  const count = (id: string) => tally(found(id).transcript);
  const outcomeFor = (id: string) => outcome(found(id));
  const ends = (here: string, there: string) =>
    sameEnd(found(here).transcript, found(there).transcript) === 'finishes';
  const survives = (...pairs: [string, string][]): Measured => {
    const finishes = pairs.every(([here, there]) => ends(here, there));
    return {
      text: finishes ? 'finishes' : 'refused',
      bad: !finishes,
      ...proofs(...pairs.map(([, there]) => there)),
    };
  };
  const [one, two] = [count('one'), count('two')];
  const [plain, single] = [writes(count('twice')), writes(count('twice-single'))];
  // The call writes once in any case, when the user answers: what is forged is a write that no user asked for.
  const unasked = count('unasked').questions === 0;
  const other = found('other-state').transcript.end.error === undefined && writes(count('other-state')) > 0;
  return {
    entered: { text: `${one.entries}× / ${two.entries}×`, ...proofs('one', 'two') },
    audit: { text: `${one.effects.audit ?? 0}`, bad: (one.effects.audit ?? 0) > 1, ...proofs('one') },
    state: { text: `${sizes(one)} / ${sizes(two)}`, ...proofs('one', 'two') },
    frames: { text: `${one.framesHeld}`, ...proofs('one') },
    fleet: survives(['one', 'fleet'], ['two', 'fleet-two']),
    restart: survives(['one', 'restart']),
    old: {
      text: `${oldClient(outcomeFor('old'), outcomeFor('old-degrade'))} / ${outcomeFor('old-fleet')}`,
      ...proofs('old', 'old-degrade', 'old-fleet'),
    },
    mute: { text: outcomeFor('mute'), ...proofs('mute') },
    twice: { text: `${plain} (${single})`, bad: plain > 1, ...proofs('twice', 'twice-single') },
    forged: {
      text: unasked === other ? verdict(other) : `${verdict(unasked)} / ${verdict(other)}`,
      bad: unasked || other,
      ...proofs('unasked', 'other-state'),
    },
  };
}

const verdict = (taken: boolean): string => (taken ? 'taken' : 'refused');

const writes = ({ effects }: Tally): number => effects.write ?? 0;

const sizes = ({ stateBytes }: Tally): string =>
  stateBytes.every((bytes) => bytes === 0) ? 'none' : stateBytes.join(', ');

const oldClient = (shim: string, degrade: string): string =>
  shim === degrade ? shim : `${degrade} (shim: ${shim})`;

function outcome({ transcript: { events, end } }: Recording): string {
  if (end.error || end.result.isError) return 'error';
  return events.some(({ kind }) => kind === 'answer') ? 'asked' : 'default';
}
