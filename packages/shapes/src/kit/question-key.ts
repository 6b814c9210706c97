/** Names for questions whose author gave them none. */
import type { Elicitation } from '@mrtr/core';

/**
 * The wire key of a question that was asked without one: the names of its form's fields, and a number behind
 * it where that is taken. Not a bare position: those shift silently when a question is inserted before them.
 */
export function questionKey(question: Elicitation, isTaken: (key: string) => boolean): string {
  const base = question.fields.join('_') || 'answer';
  let key = base;
  for (let n = 2; isTaken(key); n++) key = `${base}-${n}`;
  return key;
}
