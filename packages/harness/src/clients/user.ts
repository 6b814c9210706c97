/** The person at the client: a function that is shown a question and returns a reply. */
import type { Reply } from '../transcript/call.ts';

/** A question as a host application shows it. */
export interface ShownQuestion {
  readonly message: string;
  /** The form, as JSON Schema. Empty where a page is to be opened. */
  readonly requestedSchema: Readonly<Record<string, unknown>>;
  readonly url?: string;
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
}

/**
 * A user with a script: for each field, the reply of the first time, of the second time, and so on; the last one is
 * repeated. A bare value is accepted under the field's name.
 *
 * @param open what the user does when asked to open a page.
 * @example
 * const user = scripted({ units: ['kelvin', 'metric'], sure: [{ action: 'decline' }] });
 * const browsing = scripted({}, async ({ url }) => {
 *   await fetch(url);
 *   return { action: 'accept' };
 * });
 */
export function scriptedUser(
  replies: Readonly<Record<string, readonly (Reply | string | number | boolean)[]>>,
  open?: User['open'],
): User {
  const shown = new Map<string, number>();
  const user = ({ message, requestedSchema }: ShownQuestion): Reply => {
    const field = fieldOf({ requestedSchema });
    const script = replies[field];
    if (!script) throw new Error(`The script has no reply to "${message}" (field '${field}').`);
    const time = shown.get(field) ?? 0;
    shown.set(field, time + 1);
    return replyWith(script[Math.min(time, script.length - 1)] as Reply, { requestedSchema });
  };
  return Object.assign(user, {
    open,
    maySayNothing: Object.values(replies).some((some) => some.includes('silence')),
  });
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
