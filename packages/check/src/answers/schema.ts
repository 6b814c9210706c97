/** Whether a value fits a JSON schema that a server sent. */
import { Script } from 'node:vm';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { isObject, type JsonObject } from '../wire/json.ts';
import published from '../wire/schema-2026-07-28.json' with { type: 'json' };

const MATCHING_MS = 200;
const matching = new Script('pattern.test(text)');

/** A pattern of the server's, which may backtrack for years: where it takes long, the text does not match. */
function patternOf(source: string, flags: string) {
  const pattern = new RegExp(source, flags);
  const test = (text: string): boolean => {
    try {
      return matching.runInNewContext({ pattern, text }, { timeout: MATCHING_MS });
    } catch {
      return false;
    }
  };
  // The validator keeps one for each text of a pattern.
  return { test, toString: () => String(pattern) };
}

const regExp = Object.assign(patternOf, { code: 'new RegExp' });
const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false, code: { regExp } });
// The package is CommonJS, whose default export Node and TypeScript read differently: this reads it in both.
addFormats.default(ajv);
ajv.addSchema(published, 'mcp');

type Validate = ((value: unknown) => boolean) & Pick<ValidateFunction, 'errors'>;

const MOST_COMPILED = 100;
const compiled = new Map<string, Validate>();

/** Whether a value fits. A schema that cannot be compiled fits everything: it is found elsewhere. */
export const fits = (schema: unknown, value: unknown): boolean => whyUnfit(schema, value) === undefined;

export function whyUnfit(schema: unknown, value: unknown): string | undefined {
  if (!isObject(schema)) return undefined;
  const text = JSON.stringify(schema);
  let validate = compiled.get(text);
  if (validate === undefined) {
    if (compiled.size >= MOST_COMPILED) compiled.clear();
    validate = compile(schema);
    compiled.set(text, validate);
  }
  return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: '' }).trim();
}

function compile(schema: JsonObject): Validate {
  try {
    return ajv.compile(withoutId(schema)) as Validate;
  } catch {
    return () => true;
  }
}

export const misfit = (definition: keyof typeof published.$defs, value: unknown): string | undefined =>
  ajv.validate(`mcp#/$defs/${definition}`, value)
    ? undefined
    : ajv.errorsText(ajv.errors, { dataVar: 'message' });

/** The validator refuses two schemas of one `$id`, and meta-schemas that it does not know. */
function withoutId({ $id, $schema, ...schema }: JsonObject): JsonObject {
  return schema;
}
