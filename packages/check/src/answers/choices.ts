/** The fields that a form requires, and the values that a field allows. */
import { asList, asObject, isObject } from '../wire/json.ts';

export const listRequired = (schema: unknown) => asList(asObject(schema).required);

/** A limit for code that spreads the choices into arguments: more would overflow the stack. */
const MAX_CHOICES = 1000;

export function choicesIn(field: unknown): readonly unknown[] {
  const { enum: plain, oneOf, anyOf } = asObject(field);
  if (Array.isArray(plain)) return plain.slice(0, MAX_CHOICES);
  const titled = asList(oneOf ?? anyOf).slice(0, MAX_CHOICES);
  return titled.flatMap((one) => (isObject(one) && 'const' in one ? [one.const] : []));
}
