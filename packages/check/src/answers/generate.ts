/** Generates valid and invalid contents of a form from its schema. Runs in the worker. */
import { asText } from '@mrtr/harness/transcript';
import fc from 'fast-check';
import { choicesIn, listRequired } from '../observations/forms.ts';
import { asObject, type JsonObject, objectAt } from '../wire/json.ts';
import { fits } from './schema.ts';

/**
 * Returns a content that fits a `requestedSchema`, the same for the same seed. It fills in every field, except optional
 * ones whose bounds or pattern no generated value fits.
 */
export function validContent(schema: unknown, seed: number) {
  const properties = objectAt(schema, 'properties');
  const fields = Object.entries(properties).map(([name, one]) => [name, valueFor(one)]);
  const content = fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>);
  const [sample = {}] = fc.sample(content, { seed, numRuns: 1 });
  if (fits(schema, sample)) return { ...sample };
  const required = listRequired(schema);
  const kept = Object.entries(sample).filter(
    ([name, value]) => required.includes(name) || fits(properties[name], value),
  );
  return Object.fromEntries(kept);
}

/** Values that fit one field. A boolean is always true, because most questions ask for consent. */
export function valueFor(field: unknown): fc.Arbitrary<unknown> {
  const { type, format, const: only } = asObject(field);
  const choices = choicesIn(field);
  if (only !== undefined) return fc.constant(only);
  if (choices.length > 0) return fc.constantFrom(...choices);
  if (type === 'boolean') return fc.constant(true);
  if (type === 'integer' || type === 'number') return numberFor(field as JsonObject, type);
  if (type === 'array') return arrayFor(field as JsonObject);
  if (type === 'object') return fc.constant(validContent(field, 1));
  return format === undefined ? textFor(field as JsonObject) : (FORMATS.get(format) ?? WORD);
}

function numberFor({ minimum, maximum }: JsonObject, type: 'integer' | 'number') {
  const least = typeof minimum === 'number' ? minimum : typeof maximum === 'number' ? maximum - 10 : 1;
  const most = typeof maximum === 'number' ? maximum : least + 10;
  if (type === 'number')
    return fc.double({ min: least, max: Math.max(least, most), noNaN: true, noDefaultInfinity: true });
  const [min, max] = [clamp(Math.ceil(least)), clamp(Math.floor(most))];
  return fc.integer({ min, max: Math.max(min, max) });
}

const clamp = (whole: number) => Math.min(Math.max(whole, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);

// Limits against a hostile schema. No person fills in a longer answer.
const MAX_CHARACTERS = 10_000;
const MAX_ITEMS = 100;

const lengthOf = (given: unknown, most: number) =>
  typeof given === 'number' ? Math.min(Math.max(0, Math.floor(given)), most) : undefined;

function arrayFor({ items, minItems, maxItems }: JsonObject) {
  const choices = [...new Set(choicesIn(items))];
  const room = choices.length || MAX_ITEMS;
  const minLength = lengthOf(minItems, room) ?? 1;
  const maxLength = Math.max(minLength, lengthOf(maxItems, room) ?? minLength);
  return choices.length > 0
    ? fc.shuffledSubarray(choices, { minLength, maxLength })
    : fc.array(valueFor(items), { minLength, maxLength });
}

const LETTER = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz');

function textFor({ minLength, maxLength }: JsonObject = {}) {
  const least = lengthOf(minLength, MAX_CHARACTERS) ?? 4;
  const most = lengthOf(maxLength, MAX_CHARACTERS) ?? Math.max(least, 8);
  return fc.string({ unit: LETTER, minLength: Math.min(least, most), maxLength: most });
}

const WORD = fc.string({ unit: LETTER, minLength: 3, maxLength: 8 });
const DATE = fc.date({ min: new Date('2027-01-01'), max: new Date('2028-01-01'), noInvalidDate: true });
const FORMATS: ReadonlyMap<unknown, fc.Arbitrary<string>> = new Map([
  ['email', WORD.map((name) => `${name}@example.com`)],
  ['uri', WORD.map((path) => `https://example.com/${path}`)],
  ['date', DATE.map((day) => day.toISOString().slice(0, 10))],
  ['date-time', DATE.map((day) => day.toISOString())],
]);

const MAX_MADE = 40;

/** Returns a content that fits `schema` but not `other`: the honest one, or one that differs from it in one field. */
export function contentThatFitsOnly(schema: unknown, other: unknown, honest: unknown, seed: number) {
  const given = asObject(honest);
  const made = Array.from({ length: MAX_MADE }, (_, at) => validContent(schema, seed + at));
  const changed = made.flatMap((one) =>
    Object.entries(one).map(([field, value]) => ({ ...given, [field]: value })),
  );
  return [given, ...changed].find((one) => fits(schema, one) && !fits(other, one)) ?? null;
}

/** Contents that each break the schema in one way: a type, a bound, a choice or a missing field. */
export function invalidContents(schema: unknown, seed: number) {
  const valid = validContent(schema, seed);
  const misfits = Object.entries(objectAt(schema, 'properties')).flatMap(([name, field]) =>
    misfitsOf(field).map(({ why, value }) => ({
      why: `${name} is ${why}`,
      content: { ...valid, [name]: value },
    })),
  );
  for (const name of listRequired(schema)) {
    const { [asText(name)]: _, ...content } = valid;
    // answer.empty-accept tries a form without any content.
    if (Object.keys(content).length > 0) misfits.push({ why: `${asText(name)} is missing`, content });
  }
  return misfits.filter(({ content }) => !fits(schema, content));
}

function misfitsOf(field: unknown) {
  const { type, minimum, maximum, minLength, maxLength } = asObject(field);
  const isLimited = typeof maxLength === 'number' && maxLength >= 0 && maxLength < MAX_CHARACTERS;
  const all: readonly (readonly [applies: boolean, why: string, value: unknown])[] = [
    [choicesIn(field).length > 0, 'none of the choices', 'mrtr-check-none-of-these'],
    [typeof maximum === 'number', `above ${maximum}`, Number(maximum) + 1],
    [typeof minimum === 'number', `below ${minimum}`, Number(minimum) - 1],
    [isLimited, 'too long', isLimited && 'x'.repeat(maxLength + 1)],
    [typeof minLength === 'number' && minLength > 0, 'too short', ''],
    [type === 'integer', 'no integer', 1.5],
    [true, 'an object', { mrtr: 'check' }],
    [true, 'a number', 4711],
    [true, 'a string', 'mrtr-check'],
    [true, 'null', null],
  ];
  return all.filter(([applies]) => applies).map(([, why, value]) => ({ why, value }));
}
