/** Rejects forms that no answer fits, or whose answer would be lost. */
import { fromJsonSchema } from '@modelcontextprotocol/server';
import { InvalidDefinition } from '../errors.ts';
import type { Members } from '../wire/wire.ts';

/** The parts of a form that are checked. */
export interface CheckedForm {
  readonly properties: Members;
  readonly required?: readonly string[];
}

// The bounds of one field that belong together. The first must not exceed the second.
const BOUNDS = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
] as const;

const CHOICES = ['enum', 'oneOf', 'anyOf'] as const;

/** @throws InvalidDefinition that names the field, if no answer can fit `form` or an answer would be lost. */
export function requireAnswerable(message: string, { properties, required = [] }: CheckedForm) {
  const reject = (why: string): never => {
    throw new InvalidDefinition(`The form of "${message}" cannot be answered: ${why}.`);
  };
  // A field of this name is no own property of the answer, so the answer would never arrive.
  if (Object.hasOwn(properties, '__proto__') || Object.getPrototypeOf(properties) !== Object.prototype)
    reject("a field cannot be named '__proto__'. Give it another name");
  for (const name of required)
    if (!Object.hasOwn(properties, name))
      reject(
        `'${name}' is required, and the form has no such field. Add the field, or remove it from 'required'`,
      );
  for (const [name, field] of Object.entries(properties)) {
    const schema = field as Members;
    const choice = (schema.items ?? schema) as Members;
    if (CHOICES.some((spelling) => Array.isArray(choice[spelling]) && choice[spelling].length === 0))
      reject(`'${name}' has no choices. Give it at least one, or ask without it`);
    for (const [least, most] of BOUNDS)
      if (Number(schema[least]) > Number(schema[most]))
        reject(
          `'${name}' has the ${least} ${schema[least]} above its ${most} ${schema[most]}. Exchange them`,
        );
    if (schema.default !== undefined && !isAllowed(schema))
      reject(
        `the default of '${name}', ${JSON.stringify(schema.default)}, does not fit its own schema. Correct one`,
      );
  }
}

/** Whether the default of a field fits the field. */
function isAllowed({ default: value, ...schema }: Members) {
  const form = { type: 'object', properties: { field: schema }, required: ['field'] };
  const check = fromJsonSchema(form as Parameters<typeof fromJsonSchema>[0]);
  const outcome = check['~standard'].validate({ field: value });
  return !(outcome instanceof Promise) && !outcome.issues;
}
