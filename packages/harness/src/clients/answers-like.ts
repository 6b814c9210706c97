/** Users at clients whose forms do not draw every field. docs/clients.md has the public clients that do so. */
import { choicesOf } from '../transcript/choices.ts';
import type { JsonObject } from '../transcript/wording.ts';
import type { ShownQuestion, User } from './user.ts';

/** Makes what the client sends for a field from what its user entered there, which may be nothing. */
type Send = (field: JsonObject, entered: unknown) => unknown;

const isNumber = ({ type }: JsonObject) => type === 'number' || type === 'integer';
const isList = ({ type }: JsonObject) => type === 'array';

const whenEmpty =
  (isKind: (field: JsonObject) => boolean, blank: unknown): Send =>
  (field, entered) =>
    entered === undefined && isKind(field) ? blank : entered;

/** The line that a user types who does not see the choices: the label of one, in either era's spelling, or a list. */
function asText(field: JsonObject, entered: unknown): unknown {
  if (Array.isArray(entered)) return entered.join(', ');
  return choicesOf(field).find(({ value }) => value === entered)?.title ?? entered;
}

const APPROVES = 'approves a form with a number or a list';
const SENDS_NULL = 'sends null for an empty number';

const BEHAVIOURS = {
  [APPROVES]: (_, entered) => entered,
  'sends an empty text': whenEmpty(({ type }) => type === 'string', ''),
  'sends 0 for an empty number': whenEmpty(isNumber, 0),
  [SENDS_NULL]: whenEmpty(isNumber, null),
  'sends an empty list': whenEmpty(isList, []),
  'asks for choices as text': asText,
  'sends a time without a zone': ({ format }, entered) =>
    format === 'date-time' ? String(entered).slice(0, '2026-02-03T10:00'.length) : entered,
} as const satisfies Readonly<Record<string, Send>>;

type Behaviour = keyof typeof BEHAVIOURS;

/** The names of the behaviours. */
export const CLIENT_BEHAVIOURS = Object.keys(BEHAVIOURS) as readonly Behaviour[];

/**
 * A user at a client that does not draw every form as you meant it: it draws a field as another one, or sends something
 * for a field that its user left empty. Each behaviour was read in the source of a public client.
 *
 * @param enters what the user enters, by the name of the field. An optional field without a value is left empty.
 * @throws Error for a required field without a value, which such a client does not send. It ends the call.
 * @example
 * const user = answersLike('sends an empty text', { name: 'Ada' });
 * const { end } = await converse({ …, user }, …);
 */
export function answersLike(behaviour: Behaviour, enters: JsonObject = {}): User {
  const send: Send = BEHAVIOURS[behaviour];
  const user = ({ message, requestedSchema }: ShownQuestion) => {
    const { properties = {}, required = [] } = requestedSchema as JsonSchemaOfForm;
    const fields = Object.entries(properties);
    const content: Record<string, unknown> = {};
    const isDrawn = behaviour !== APPROVES || !fields.some(([, field]) => isNumber(field) || isList(field));
    for (const [name, field] of isDrawn ? fields : []) {
      const value = send(field, enters[name]);
      if (value !== undefined) content[name] = value;
      else if (required.includes(name))
        throw new Error(`'${name}' ("${message}") is required. Add what the user enters there.`);
    }
    return { action: 'accept', content: content as never } as const;
  };
  // The SDK's client rejects null.
  return Object.assign(user, { maySayNothing: behaviour === SENDS_NULL });
}

interface JsonSchemaOfForm {
  readonly properties?: Readonly<Record<string, JsonObject>>;
  readonly required?: readonly string[];
}
