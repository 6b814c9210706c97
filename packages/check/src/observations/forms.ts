/** Recognizes and compares the forms that a server asks with. */
import { choicesOf } from '@mrtr/harness/internal';
import {
  asList,
  asObject,
  canonical,
  isObject,
  type JsonObject,
  mapMembers,
  objectAt,
} from '../wire/json.ts';

/** Whether a request is a form without required fields. To refuse it may mean to accept its defaults. */
export const isOptional = (request: unknown) => requiresNothing(request) && fieldsOf(request).length > 0;

export const requiresNothing = (request: unknown) =>
  isForm(request) && listRequired(schemaOf(request)).length === 0;

export const isElicitation = (request: JsonObject | undefined) => request?.method === 'elicitation/create';

export const schemaOf = (request: unknown) => objectAt(objectAt(request, 'params'), 'requestedSchema');

export const propertiesOf = (request: unknown) => objectAt(schemaOf(request), 'properties');

export const fieldsOf = (request: unknown) => Object.values(propertiesOf(request));

export const isForm = (request: unknown) => {
  const { requestedSchema, mode } = objectAt(request, 'params');
  return requestedSchema !== undefined && mode !== 'url';
};

/** Whether a request elicits an answer on a page. */
export const isPage = (request: JsonObject) => isElicitation(request) && !isForm(request);

/** A form as text, the same for both spellings of titled choices: old clients get `enum` with `enumNames`. */
export function formText(request: unknown) {
  const { message, requestedSchema } = objectAt(request, 'params');
  const { $schema, ...schema } = asObject(requestedSchema);
  return canonical([message, { ...schema, properties: mapMembers(propertiesOf(request), withTitles) }]);
}

function withTitles(field: unknown) {
  if (!isObject(field) || !Array.isArray(field.enum) || !Array.isArray(field.enumNames)) return field;
  const { enum: values, enumNames: titles, ...rest } = field as Record<'enum' | 'enumNames', unknown[]>;
  return { ...rest, oneOf: values.map((value, at) => ({ const: value, title: titles[at] })) };
}

export const listRequired = (schema: unknown) => asList(asObject(schema).required);

/** A limit for code that spreads the choices into arguments: more would overflow the stack. */
const MAX_CHOICES = 1000;

export const choicesIn = (field: unknown) =>
  choicesOf(asObject(field))
    .slice(0, MAX_CHOICES)
    .map(({ value }) => value);

/** The text that a person reads in a question, for comparison. Of the schema it has the titles and descriptions only. */
export function textOfQuestion(request: JsonObject | undefined) {
  const { requestedSchema, ...params } = objectAt(request, 'params');
  const words = leavesIn(requestedSchema).filter(([key]) => key === 'title' || key === 'description');
  return canonical({ ...request, params: { ...params, words } });
}

/** The texts and numbers in a value, each with its key. */
export function leavesIn(value: unknown, key = ''): readonly (readonly [key: string, leaf: unknown])[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, member]) => leavesIn(member, name));
  return typeof value === 'string' || typeof value === 'number' ? [[key, value]] : [];
}
