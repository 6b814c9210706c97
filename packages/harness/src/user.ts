/** The users: scripted people, who see a question and do what their script says. */
import type { ElicitResult, InputRequest } from '@mrtr/core';

/** A question as a host application shows it. */
export interface ShownQuestion {
  readonly message: string;
  /** The form, as JSON Schema. */
  readonly requestedSchema: Readonly<Record<string, unknown>>;
}

/** What a user does: answers, says no, dismisses the question, or (`silence`) nothing that reaches the server. */
export type Reply = ElicitResult | 'silence';

/** Answers questions, in the order in which they are shown. */
export interface User {
  (question: ShownQuestion): Reply | Promise<Reply>;
  /** Set for a user who may be silent: a modern client then makes the rounds by hand, to leave an answer out. */
  readonly maySayNothing?: boolean;
}

/** A user with a repertoire: field by field, what to answer the first time, the second time, and from then on. */
export function scripted(replies: Readonly<Record<string, readonly (Reply | string | number)[]>>): User {
  const shown = new Map<string, number>();
  const user = ({ message, requestedSchema }: ShownQuestion): Reply => {
    const field = Object.keys((requestedSchema.properties ?? {}) as object)[0] ?? '';
    const repertoire = replies[field];
    if (!repertoire) throw new Error(`The script has no reply to "${message}" (field '${field}').`);
    const time = shown.get(field) ?? 0;
    shown.set(field, time + 1);
    const reply = repertoire[Math.min(time, repertoire.length - 1)];
    if (typeof reply === 'number' || (typeof reply === 'string' && reply !== 'silence')) {
      return { action: 'accept', content: { [field]: reply } };
    }
    return reply as Reply;
  };
  return Object.assign(user, {
    maySayNothing: Object.values(replies).some((some) => some.includes('silence')),
  });
}

/** The question in an elicitation request, or undefined for any other input request. */
export function shownQuestion(request: InputRequest): ShownQuestion | undefined {
  if (request.method !== 'elicitation/create') return undefined;
  const { message, requestedSchema } = request.params as unknown as ShownQuestion;
  return { message, requestedSchema };
}
