/** Recognizes forms that nobody can fill in. Such a form is a fault of the server, not of the user. */

import { MAX_BYTES } from '@mrtr/harness/internal';
import { choicesIn, listRequired } from '../observations/forms.ts';
import { isObject, type JsonObject, objectAt } from '../wire/json.ts';
import { fits } from './schema.ts';

/** Returns the reason why no content fits a `requestedSchema`, if it finds one. Ignores patterns and formats. */
export function whyUnfillable(schema: unknown) {
  const required = listRequired(schema);
  for (const [name, field] of Object.entries(objectAt(schema, 'properties'))) {
    const why = required.includes(name) && isObject(field) ? whyNoValue(field) : undefined;
    if (why) return `'${name}' ${why}`;
  }
  return undefined;
}

function whyNoValue(field: JsonObject) {
  const { type, items, uniqueItems } = field;
  const few =
    'const' in field
      ? [field.const]
      : listsChoices(field)
        ? choicesIn(field)
        : type === 'boolean' && [true, false];
  if (few && !few.some((one) => fits(field, one))) return 'allows none of its own choices';
  const distinct = uniqueItems === true && listsChoices(items) ? new Set(choicesIn(items)).size : undefined;
  return (
    whyCrossed(field.minimum, field.maximum, type === 'integer') ??
    whyCrossed(field.minLength, field.maxLength) ??
    whyCrossed(field.minItems, field.maxItems) ??
    whyCrossed(field.minItems, distinct) ??
    whyTooLong(field.minLength) ??
    whyTooLong(field.minItems)
  );
}

/** The reason if a value cannot fit into a message. */
const whyTooLong = (least: unknown) =>
  typeof least === 'number' && least > MAX_BYTES
    ? `has to be ${least} long, and a message has room for ${MAX_BYTES}`
    : undefined;

const listsChoices = (field: unknown): field is JsonObject =>
  isObject(field) && [field.enum, field.oneOf, field.anyOf].some(Array.isArray);

function whyCrossed(least: unknown, most: unknown, isWhole = false) {
  if (typeof least !== 'number' || typeof most !== 'number') return undefined;
  const isEmpty = isWhole ? Math.ceil(least) > Math.floor(most) : least > most;
  return isEmpty ? `has to be at least ${least} and at most ${most}` : undefined;
}
