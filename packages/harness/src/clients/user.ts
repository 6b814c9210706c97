/** The person at the client: a function from a question to a reply. */
import type { Reply } from '../transcript/call.ts';
import { type JsonObject, objectIn } from '../transcript/wording.ts';

/** A question as a host application shows it. */
export interface ShownQuestion {
  readonly message: string;
  /** The form, as JSON Schema. Empty if the question asks to open a page. */
  readonly requestedSchema: JsonObject;
  readonly url?: string;
  /** Its key among the questions of the round. An old client or server has none. */
  readonly key?: string | undefined;
}

/** A reply, or a bare value: an acceptance, with the value in the form's first field. */
export type GivenReply = Reply | string | number | boolean;

/** A page that a question asks to open. */
export interface ShownPage {
  readonly message: string;
  readonly url: string;
}

/** Answers questions in order. */
export interface User {
  (question: ShownQuestion): Reply | Promise<Reply>;
  /**
   * Opens a page, or refuses. With it, the client declares the URL mode of elicitation. `accept` means that the user agreed
   * to open the page, not that they finished there.
   */
  readonly open?: ((page: ShownPage) => Reply | Promise<Reply>) | undefined;
  /**
   * Set for a user who may be silent, or whose answers the SDK's client rejects. A modern client then makes its rounds by
   * hand, so that it can omit an answer.
   */
  readonly maySayNothing?: boolean;
  /** Set for a program that answers instead of a person. Drawings call it the agent. */
  readonly isAgent?: boolean;
}

/**
 * A user with a script: by each question's key, the replies to its first time, its second time, and so on. The last reply
 * repeats. A bare value means an acceptance, with the value in the form's first field. Questions to an old client have no
 * keys, so a script may use that field's name instead.
 *
 * @param open called for a question that asks to open a page.
 * @throws Error for a question without a reply. It ends the call.
 * @example
 * const user = scriptedUser({ units: ['kelvin', 'metric'], sure: [{ action: 'decline' }] });
 * const browsing = scriptedUser({}, async ({ url }) => {
 *   await fetch(url);
 *   return { action: 'accept' };
 * });
 */
export function scriptedUser(
  replies: Readonly<Record<string, readonly GivenReply[]>>,
  open?: User['open'],
): User {
  const shown = new Map<string, number>();
  const user = (question: ShownQuestion) => {
    const name = nameIn(replies, question);
    const script = replies[name] ?? [];
    const time = shown.get(name) ?? 0;
    shown.set(name, time + 1);
    return replyWith(script[Math.min(time, script.length - 1)] as GivenReply, question);
  };
  return Object.assign(user, {
    open,
    maySayNothing: Object.values(replies).some((some) => some.includes('silence')),
  });
}

/** The name of a question's reply: its key, or the first field of its form. */
export function nameIn<Name extends string>(
  replies: Readonly<Record<Name, unknown>>,
  question: ShownQuestion,
): Name {
  const names = [...new Set([question.key, fieldOf(question)])].filter(Boolean) as Name[];
  const name = names.find((one) => replies[one] !== undefined);
  if (name !== undefined) return name;
  const given = Object.keys(replies).map((one) => `'${one}'`);
  throw new Error(
    `'${names[0]}' ("${question.message}") has no reply. There are replies to ${given.join(', ') || 'nothing'}: ` +
      `add one to '${names.join("' or '")}'.`,
  );
}

/** The question in a server's request. */
export const questionIn = (params: object, key?: string): ShownQuestion => {
  const { message, requestedSchema = {}, url } = params as ShownQuestion & { requestedSchema?: object };
  return { message, requestedSchema, ...(url !== undefined && { url }), ...(key !== undefined && { key }) };
};

export function replyOf(user: User, question: ShownQuestion): Reply | Promise<Reply> {
  const { message, url } = question;
  if (url === undefined) return user(question);
  if (!user.open) throw new Error(`The user does not open pages; the server asked to open ${url}.`);
  return user.open({ message, url });
}

export const fieldOf = ({ requestedSchema }: ShownQuestion): string =>
  Object.keys(objectIn(requestedSchema, 'properties'))[0] ?? '';

/** Turns a bare value into an acceptance, with the value in the form's first field. */
export const replyWith = (reply: GivenReply, question: ShownQuestion): Reply =>
  typeof reply === 'object' || reply === 'silence'
    ? reply
    : { action: 'accept', content: { [fieldOf(question)]: reply } };
