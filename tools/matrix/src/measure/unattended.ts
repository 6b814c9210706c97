/** Measures tools with clients that answer questions without a person. */
import { RESOLVE_WORK_ITEM } from '@mrtr/comparison';
import { callSubject, type Measured, type Subject } from '@mrtr/comparison/calls';
import { SELF_ANSWERING, type SelfAnswering, selfAnswering } from '@mrtr/comparison/self-answering';
import { callerNamed } from '@mrtr/harness';
import { eventsOf, tally } from '@mrtr/harness/transcript';

type Named = Subject & Pick<Measured, 'name'>;

export interface UnattendedCell {
  readonly subject: string;
  readonly client: SelfAnswering;
  readonly writes: number;
  readonly questions: number;
}

/** Calls each subject's `resolve_work_item` with each of the clients. `state` is the item's state afterwards. */
export async function measureUnattended(
  subjects: readonly Named[],
  state: 'Active' | 'Resolved',
): Promise<readonly UnattendedCell[]> {
  const cells: UnattendedCell[] = [];
  const call = {
    method: 'tools/call',
    params: { name: RESOLVE_WORK_ITEM, arguments: { id: 4522, state } },
  } as const;
  for (const subject of subjects) {
    for (const client of SELF_ANSWERING) {
      const transcript = await callSubject({
        ...{ subject, call, client: 'modern', hosting: 'memory', legacy: 'degrade' },
        user: selfAnswering(client),
        caller: callerNamed('ada'),
      });
      const questions = eventsOf('question', transcript.events).length;
      const writes = tally(transcript).effects.write ?? 0;
      const { name = subject.id.toUpperCase() } = subject;
      cells.push({ subject: name, client, writes, questions });
    }
  }
  return cells;
}

/** A table with one row for all subjects that behave alike for all clients. */
export function unattendedTable(cells: readonly UnattendedCell[]): readonly (readonly string[])[] {
  const rows = new Map<string, readonly string[]>();
  for (const subject of new Set(cells.map((cell) => cell.subject))) {
    const own = cells.filter((cell) => cell.subject === subject);
    const done = own.map(({ writes }) => (writes > 0 ? '**written**' : 'nothing written'));
    const [names = '', ...same] = rows.get(done.join()) ?? ['', ...done];
    rows.set(done.join(), [names === '' ? subject : `${names}, ${subject}`, ...same]);
  }
  return [['Asked by', ...SELF_ANSWERING], ...rows.values()];
}
