/** Measures tools with clients that answer questions without a person. */
import { RESOLVE_WORK_ITEM } from '@mrtr/example-tools';
import { callerNamed, type Reply, type ShownQuestion, type User } from '@mrtr/harness';
import { eventsOf, tally } from '@mrtr/harness/transcript';
import { converse } from './converse.ts';
import type { Measured, Subject } from './subject.ts';

interface Field {
  readonly type?: string;
  readonly title?: string;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly { readonly const: unknown; readonly title?: string }[];
  readonly minimum?: number;
}

const choicesIn = ({ enum: values, oneOf }: Field): readonly unknown[] =>
  values ?? oneOf?.map((choice) => choice.const) ?? [];

function firstThatFits(field: Field): unknown {
  const [first] = choicesIn(field);
  if (first !== undefined) return first;
  if (field.type === 'boolean') return true;
  return field.type === 'string' ? 'x' : (field.minimum ?? 1);
}

const YES = /^(approve|accept|agree|allow|confirm|yes|ok)/i;

/** Answers like a model that reviews a question: picks the choice that approves, and types the requested text. */
function affirmative(field: Field): unknown {
  const toType = /type “(.+)”$/.exec(field.title ?? '')?.[1];
  return toType ?? choicesIn(field).find((choice) => YES.test(`${choice}`)) ?? firstThatFits(field);
}

const fill =
  (value: (field: Field) => unknown) =>
  ({ requestedSchema }: ShownQuestion): Reply => {
    const fields = Object.entries((requestedSchema.properties ?? {}) as Record<string, Field>);
    const content = Object.fromEntries(fields.map(([name, field]) => [name, value(field)]));
    return { action: 'accept', content: content as never };
  };

/** The self-answering clients, and their replies. */
const REPLIES = {
  'an empty acceptance': () => ({ action: 'accept', content: {} }),
  'the first value that fits': fill(firstThatFits),
  'the affirmative value': fill(affirmative),
  'decline everything': () => ({ action: 'decline' }),
} as const satisfies Readonly<Record<string, (question: ShownQuestion) => Reply>>;

/** A client without a person, named after its answers. */
export type SelfAnswering = keyof typeof REPLIES;

export const SELF_ANSWERING = Object.keys(REPLIES) as readonly SelfAnswering[];

/** A client that gives this answer to every form, and claims to have opened every page, or declines. */
export function selfAnswering(name: SelfAnswering): User {
  const reply: (question: ShownQuestion) => Reply = REPLIES[name];
  const action = name === 'decline everything' ? 'decline' : 'accept';
  const open = () => ({ action }) as const;
  return Object.assign((question: ShownQuestion) => reply(question), { open, isAgent: true });
}

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
      const transcript = await converse({
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
