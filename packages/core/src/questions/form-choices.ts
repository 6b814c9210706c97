/**
 * Spells the choices of a form: for forms of today, and for old clients. For `'a' | 'b'`, ArkType writes an `enum` without a
 * type, and Valibot and zod write literals as an `anyOf` of constants. The SDK rejects both, and the pattern of a format.
 */
import type { InputRequest, StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { isObject, isText, type Members, mapValues } from '../wire/wire.ts';

type Choice = { readonly const: string; readonly title?: string };

/** Wraps `schema` so that the SDK can convert its choices to a form. */
export function withFormChoices(schema: StandardSchemaWithJSON): StandardSchemaWithJSON {
  const { version, vendor, validate, jsonSchema } = schema['~standard'];
  if (!jsonSchema) return schema; // A zod version that the SDK converts itself.
  const input: typeof jsonSchema.input = (options) => {
    const json = jsonSchema.input(vendor === 'zod' ? { ...options, libraryOptions: ZOD_OPTIONS } : options);
    if (!isObject(json.properties)) return json;
    return { ...json, properties: mapValues(json.properties, fieldOf) };
  };
  return { '~standard': { version, vendor, validate, jsonSchema: { input, output: jsonSchema.output } } };
}

/** Zod gives a time no format if it may lack a zone. Clients have one format for times. */
const ZOD_OPTIONS = {
  override: ({ zodSchema, jsonSchema }: Members) => {
    const { format } = (zodSchema as { readonly _zod: { readonly def: Members } })._zod.def;
    if (format === 'datetime') Object.assign(jsonSchema as object, { format: 'date-time' });
  },
};

/** Rewrites the choices of a field. Other fields stay unchanged. */
function fieldOf(field: unknown) {
  if (!isObject(field)) return field;
  if (field.type === 'array') {
    const choices = choicesOf(field.items);
    return choices ? { ...field, items: multipleChoice(choices) } : field;
  }
  const choices = choicesOf(field);
  if (!choices) {
    // A form has no patterns, and a format says what to type. The schema checks the answer with its pattern all the same.
    const { pattern: _, ...rest } = field;
    return field.format === undefined ? field : rest;
  }
  const others = Object.entries(field).filter(([key]) => !SPELLINGS.includes(key));
  return { ...Object.fromEntries(others), type: 'string', ...singleChoice(choices) };
}

const SPELLINGS = ['anyOf', 'oneOf', 'const', 'enum'];

const singleChoice = (choices: readonly Choice[]): Members =>
  areTitled(choices) ? { oneOf: choices } : { enum: choices.map((choice) => choice.const) };

const multipleChoice = (choices: readonly Choice[]): Members =>
  areTitled(choices) ? { anyOf: choices } : { type: 'string', ...singleChoice(choices) };

/** Whether all choices have a title: a form needs all or none. */
const areTitled = (choices: readonly Choice[]) => choices.every(({ title }) => title !== undefined);

/** The texts to choose from. Undefined if `schema` is not a choice of texts, or is already in the form's spelling. */
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

type Titled = Members & { readonly oneOf: readonly { readonly const: unknown; readonly title: unknown }[] };

/**
 * `request` for a client at 2025-11-25. Titled choices go out as `enum` with `enumNames`: SDKs of older revisions do not
 * know `oneOf`, and reject the whole form.
 */
export function onOldWire<R extends InputRequest>(request: R): R {
  const { requestedSchema } = (request.params ?? {}) as {
    requestedSchema?: { readonly properties?: Members };
  };
  const properties = requestedSchema?.properties;
  if (!properties || !Object.values(properties).some(isTitledChoice)) return request;
  const spelt = mapValues(properties, (field) => (isTitledChoice(field) ? asEnum(field) : field));
  return {
    ...request,
    params: { ...request.params, requestedSchema: { ...requestedSchema, properties: spelt } },
  };
}

const isTitledChoice = (field: unknown): field is Titled => Array.isArray((field as Members | null)?.oneOf);

function asEnum({ oneOf, ...rest }: Titled): Members {
  return { ...rest, enum: oneOf.map((choice) => choice.const), enumNames: oneOf.map(({ title }) => title) };
}
