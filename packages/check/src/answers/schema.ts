/** Validates values by a server's JSON schema. A hostile schema may take years, so this runs in the worker. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { isObject, type JsonObject, shorten } from '../wire/json.ts';
import published from '../wire/schema-2026-07-28.json' with { type: 'json' };

function createAjv() {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
  // Node and TypeScript read the default export of a CommonJS package differently. This works in both.
  addFormats.default(ajv);
  return ajv;
}

const ours = createAjv().addSchema(published, 'mcp');
/** It never frees compiled schemas, so it is replaced whenever `compiled` is cleared. */
let theirs = createAjv();

type Validate = ((value: unknown) => boolean) & Pick<ValidateFunction, 'errors'>;

const MAX_COMPILED = 100;
const compiled = new Map<string, Validate>();

/** Whether a value fits. Every value fits a schema that does not compile: other checks report that. */
export const fits = (schema: unknown, value: unknown) => whyUnfit(schema, value) === undefined;

export function whyUnfit(schema: unknown, value: unknown) {
  if (!isObject(schema)) return undefined;
  const text = JSON.stringify(schema);
  let validate = compiled.get(text);
  if (!validate) {
    if (compiled.size >= MAX_COMPILED) {
      compiled.clear();
      theirs = createAjv();
    }
    validate = compile(schema);
    compiled.set(text, validate);
  }
  return validate(value) ? undefined : sayErrors(validate.errors, '').trim();
}

function compile(schema: JsonObject) {
  try {
    return theirs.compile(withoutId(schema)) as Validate;
  } catch {
    return () => true;
  }
}

/** A long message may have an error in every member. */
const MAX_SAID = 2000;

const sayErrors = (errors: ValidateFunction['errors'], dataVar: string) =>
  shorten(ours.errorsText(errors, { dataVar }), MAX_SAID);

export const misfit = (definition: keyof typeof published.$defs, value: unknown) =>
  ours.validate(`mcp#/$defs/${definition}`, value) ? undefined : sayErrors(ours.errors, 'message');

/**
 * The validator rejects a second schema with the same `$id`, and unknown meta-schemas. With `$async` it would return a
 * promise.
 */
function withoutId({ $id, $schema, $async, ...schema }: JsonObject) {
  return schema;
}
