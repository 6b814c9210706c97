/** The fields that a form requires, and the values that a field allows. */
import { isObject } from '../wire/json.ts';

export const listRequired = (schema: unknown): readonly unknown[] =>
  isObject(schema) && Array.isArray(schema.required) ? schema.required : [];

/** A limit for code that spreads the choices into arguments: more would overflow the stack. */
const MAX_CHOICES = 1000;

export function choicesIn(field: unknown): readonly unknown[] {
  if (!isObject(field)) return [];
  if (Array.isArray(field.enum)) return field.enum.slice(0, MAX_CHOICES);
  const titled = field.oneOf ?? field.anyOf;
  return Array.isArray(titled)
    ? titled.slice(0, MAX_CHOICES).flatMap((one) => (isObject(one) && 'const' in one ? [one.const] : []))
    : [];
}
