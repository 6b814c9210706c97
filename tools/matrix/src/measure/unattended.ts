/** Measures tools with clients that answer questions without a person. */
import { RESOLVE_WORK_ITEM } from '@mrtr/comparison';
import { callSubject, type Measured, type Subject, toolCall } from '@mrtr/comparison/calls';
import { SELF_ANSWERING, type SelfAnswering, selfAnswering } from '@mrtr/comparison/self-answering';
import { callerNamed } from '@mrtr/harness';
import { eventsOf, tally } from '@mrtr/harness/transcript';
import { groupBy, nameOf } from '../table-rows.ts';

type Named = Subject & Pick<Measured, 'name'>;

export interface UnattendedCell {
  readonly subject: string;
  readonly client: SelfAnswering;
  readonly writes: number;
  readonly questions: number;
}

/** Calls each subject's `resolve_work_item` with each of the clients. `state` is the item's state afterwards. */
export async function measureUnattended(subjects: readonly Named[], state: 'Active' | 'Resolved') {
  const cells: UnattendedCell[] = [];
  const call = toolCall(RESOLVE_WORK_ITEM, { id: 4522, state });
  for (const subject of subjects) {
    for (const client of SELF_ANSWERING) {
      const transcript = await callSubject({
        ...{ subject, call, client: 'modern', hosting: 'memory', legacy: 'degrade' },
        user: selfAnswering(client),
        caller: callerNamed('ada'),
      });
      const questions = eventsOf('question', transcript.events).length;
      const writes = tally(transcript).effects.write ?? 0;
      cells.push({ subject: nameOf(subject), client, writes, questions });
    }
  }
  return cells;
}

/** A table with one row for all subjects that behave alike for all clients. */
export function unattendedTable(cells: readonly UnattendedCell[]) {
  const done = (own: readonly UnattendedCell[]) =>
    own.map(({ writes }) => (writes > 0 ? '**written**' : 'nothing written'));
  const subjects = groupBy(cells, ({ subject }) => subject);
  const rows = groupBy(subjects, (own) => done(own).join()).map((alike) => [
    alike.map(([{ subject }]) => subject).join(', '),
    ...done(alike[0]),
  ]);
  return [['Asked by', ...SELF_ANSWERING], ...rows];
}
