/** Clients that answer questions without a person. */
import type { Reply, ShownQuestion, User } from '@mrtr/harness';
import { choicesOf } from '@mrtr/harness/internal';
import { asText } from '@mrtr/harness/transcript';

type Field = Readonly<Record<string, unknown>>;

function firstThatFits(field: Field): unknown {
  const [first] = choicesOf(field);
  if (first) return first.value;
  if (field.type === 'boolean') return true;
  return field.type === 'string' ? 'x' : (field.minimum ?? 1);
}

const YES = /^(approve|accept|agree|allow|confirm|yes|ok)/i;

/** Answers like a model that reviews a question: picks the choice that approves, and types the requested text. */
function affirmative(field: Field): unknown {
  const toType = /type “(.+)”$/.exec(asText(field.title))?.[1];
  const yes = choicesOf(field).find(({ value }) => YES.test(asText(value)));
  return toType ?? yes?.value ?? firstThatFits(field);
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
