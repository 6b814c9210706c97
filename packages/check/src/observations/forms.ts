/** Forms among what a server asks. */
import { listRequired } from '../answers/choices.ts';
import { canonical, isObject, type JsonObject, objectAt } from '../wire/json.ts';

/** Whether a request is a form of which nothing has to be filled in: a refusal of it may mean its default. */
export const isOptional = (request: unknown): boolean =>
  requiresNothing(request) && fieldsOf(request).length > 0;

export const requiresNothing = (request: unknown): boolean =>
  isForm(request) && listRequired(schemaOf(request)).length === 0;

export const isElicitation = (request: JsonObject | undefined): boolean =>
  request?.method === 'elicitation/create';

const schemaOf = (request: unknown) => objectAt(objectAt(request, 'params'), 'requestedSchema');

export const propertiesOf = (request: unknown): JsonObject => objectAt(schemaOf(request), 'properties');

export const fieldsOf = (request: unknown): readonly unknown[] => Object.values(propertiesOf(request));

export const isForm = (request: unknown): boolean => {
  const { requestedSchema, mode } = objectAt(request, 'params');
  return requestedSchema !== undefined && mode !== 'url';
};

export function formText(request: unknown): string {
  const { message, requestedSchema } = objectAt(request, 'params');
  const { $schema, ...schema } = isObject(requestedSchema) ? requestedSchema : {};
  return canonical([message, schema]);
}
