/** Forms among what a server asks. */
import { canonical, isObject, objectAt } from '../wire/json.ts';

/** Whether a request is a form of which nothing has to be filled in: a refusal of it may mean its default. */
export const isOptional = (request: unknown): boolean => {
  const { properties, required } = objectAt(objectAt(request, 'params'), 'requestedSchema');
  const fields = isObject(properties) ? Object.keys(properties).length : 0;
  return isForm(request) && fields > 0 && !(Array.isArray(required) && required.length > 0);
};

export const isForm = (request: unknown): boolean => {
  const { requestedSchema, mode } = objectAt(request, 'params');
  return requestedSchema !== undefined && mode !== 'url';
};

export function formText(request: unknown): string {
  const { message, requestedSchema } = objectAt(request, 'params');
  const { $schema, ...schema } = isObject(requestedSchema) ? requestedSchema : {};
  return canonical([message, schema]);
}
