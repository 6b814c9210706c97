/** The person at the client: a function that is shown a question and returns a reply. */
import type { Reply } from '../transcript/call.ts';

/** A question as a host application shows it. */
export interface ShownQuestion {
  readonly message: string;
  /** The form, as JSON Schema. Empty where a page is to be opened. */
  readonly requestedSchema: Readonly<Record<string, unknown>>;
  readonly url?: string;
  /** Its key among the questions of the round. An old client or server has none. */
  readonly key?: string | undefined;
}

/** A page that a user is asked to open. */
export interface ShownPage {
  readonly message: string;
  readonly url: string;
}

/** Answers questions, in the order in which they are shown. */
export interface User {
  (question: ShownQuestion): Reply | Promise<Reply>;
  /**
   * Opens a page, or does not. Its client declares the URL mode of elicitation only where this is there. `accept` says
   * that the user agreed to open the page, whatever they do there.
   */
  readonly open?: ((page: ShownPage) => Reply | Promise<Reply>) | undefined;
  /** Set for a user who may be silent: a modern client then makes the rounds by hand, to leave an answer out. */
  readonly maySayNothing?: boolean;
  /** Set for a program that answers in the place of a person. Drawings then call it the agent. */
  readonly isAgent?: boolean;
}

/**
 * A user with a script: for each question, by its key, the reply of the first time, of the second time, and so on; the
 * last one is repeated. A bare value is accepted under the name of the form's first field. An old client is asked
 * without keys, so a script may have that name instead of the key.
 *
 * @param open what the user does when asked to open a page.
 * @throws Error where a question has no reply. It ends the call.
 * @example
 * const user = scriptedUser({ units: ['kelvin', 'metric'], sure: [{ action: 'decline' }] });
 * const browsing = scriptedUser({}, async ({ url }) => {
 *   await fetch(url);
 *   return { action: 'accept' };
 * });
 */
export function scriptedUser(
  replies: Readonly<Record<string, readonly (Reply | string | number | boolean)[]>>,
  open?: User['open'],
): User {
  const shown = new Map<string, number>();
  const user = (question: ShownQuestion): Reply => {
    const name = nameIn(replies, question);
    const script = replies[name] ?? [];
    const time = shown.get(name) ?? 0;
    shown.set(name, time + 1);
    return replyWith(script[Math.min(time, script.length - 1)] as Reply, question);
  };
  return Object.assign(user, {
    open,
    maySayNothing: Object.values(replies).some((some) => some.includes('silence')),
  });
}

/** The name under which a question has its reply: its key, or the first field of its form. */
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

export const questionIn = (params: object): ShownQuestion => {
  const { message, requestedSchema = {}, url } = params as ShownQuestion & { requestedSchema?: object };
  return { message, requestedSchema, ...(url !== undefined && { url }) };
};

export function replyOf(user: User, question: ShownQuestion): Reply | Promise<Reply> {
  const { message, url } = question;
  if (url === undefined) return user(question);
  if (!user.open) throw new Error(`The user does not open pages; the server asked to open ${url}.`);
  return user.open({ message, url });
}

export const fieldOf = ({ requestedSchema }: Pick<ShownQuestion, 'requestedSchema'>): string =>
  Object.keys((requestedSchema.properties ?? {}) as object)[0] ?? '';

/** A reply, or a bare value, which is accepted under the name of the form's first field. */
export const replyWith = (
  reply: Reply | string | number | boolean,
  question: Pick<ShownQuestion, 'requestedSchema'>,
): Reply =>
  typeof reply === 'object' || reply === 'silence'
    ? reply
    : { action: 'accept', content: { [fieldOf(question)]: reply } };
