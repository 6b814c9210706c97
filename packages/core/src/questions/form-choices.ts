/**
 * Choices of texts, in the spelling that a form has for them. Libraries spell `'a' | 'b'` in other ways: ArkType as `enum`
 * without a type, Valibot and zod as `anyOf` of constants where they are literals. The SDK refuses these.
 */
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';

type Json = Readonly<Record<string, unknown>>;
type Choice = { readonly const: string; readonly title?: string };

/** Gives the schema that the SDK converts to the form of `schema`. */
export function withFormChoices(schema: StandardSchemaWithJSON): StandardSchemaWithJSON {
  const { version, vendor, validate, jsonSchema } = schema['~standard'];
  if (!jsonSchema) return schema; // A zod that the SDK converts by itself.
  const input: typeof jsonSchema.input = (options) => {
    const json = jsonSchema.input(options);
    if (!isObject(json.properties)) return json;
    const fields = Object.entries(json.properties).map(([name, field]) => [name, fieldOf(field)]);
    return { ...json, properties: Object.fromEntries(fields) };
  };
  return { '~standard': { version, vendor, validate, jsonSchema: { input, output: jsonSchema.output } } };
}

/** A field whose choices are spelt as a form has them. Every other field stays as it is. */
function fieldOf(field: unknown): unknown {
  if (!isObject(field)) return field;
  if (field.type === 'array') {
    const choices = choicesOf(field.items);
    return choices ? { ...field, items: multipleChoice(choices) } : field;
  }
  const choices = choicesOf(field);
  if (!choices) return field;
  const others = Object.entries(field).filter(([key]) => !SPELLINGS.includes(key));
  return { ...Object.fromEntries(others), type: 'string', ...singleChoice(choices) };
}

const SPELLINGS = ['anyOf', 'oneOf', 'const', 'enum'];

const singleChoice = (choices: readonly Choice[]): Json =>
  areTitled(choices) ? { oneOf: choices } : { enum: choices.map((choice) => choice.const) };

const multipleChoice = (choices: readonly Choice[]): Json =>
  areTitled(choices) ? { anyOf: choices } : { type: 'string', ...singleChoice(choices) };

/** A form has titles for all of its choices, or for no choice. */
const areTitled = (choices: readonly Choice[]): boolean => choices.every(({ title }) => title !== undefined);

/** The texts to choose from. Undefined where `schema` is no such choice, or is spelt as a form has it. */
function choicesOf(schema: unknown): readonly Choice[] | undefined {
  if (!isObject(schema)) return undefined;
  if (isText(schema.const)) return [{ const: schema.const }];
  if (schema.type !== undefined) return undefined;
  const { enum: values, anyOf, oneOf = anyOf } = schema;
  const members = Array.isArray(values) ? values.map((value) => ({ const: value })) : oneOf;
  return Array.isArray(members) && members.length > 0 && members.every(isChoice)
    ? members.map(({ const: value, title }) => ({ const: value, ...(isText(title) && { title }) }))
    : undefined;
}

const isChoice = (member: unknown): member is Choice => isObject(member) && isText(member.const);

const isText = (value: unknown): value is string => typeof value === 'string';

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
