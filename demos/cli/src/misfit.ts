/** Why an answer does not fit its form. */
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';

const validator = new AjvJsonSchemaValidator();

export function misfit(form: Readonly<Record<string, unknown>>, content: object): string | undefined {
  const checked = validator.getValidator(form)(content);
  return checked.valid
    ? undefined
    : checked.errorMessage.replaceAll('data/', '').replace('be equal to', 'be');
}
