/** Names for questions whose author gave them none. */
import type { Elicitation } from '@mrtr/core';

/**
 * Makes a wire key for a question without one: the names of its form's fields, with a number appended if that key is
 * taken. A position alone would shift silently when a question is inserted before it.
 */
export function questionKey(question: Elicitation, isTaken: (key: string) => boolean): string {
  const base = question.fields.join('_') || 'answer';
  let key = base;
  for (let n = 2; isTaken(key); n++) key = `${base}-${n}`;
  return key;
}
