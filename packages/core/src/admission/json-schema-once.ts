/** Converts each schema to JSON Schema once. The SDK does it for each server, and so for each request. */
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { mapValues } from '../wire/wire.ts';

type Convert = StandardSchemaWithJSON['~standard']['jsonSchema']['input'];

const known = new WeakMap<object, object>();

/** The configuration of a tool, with schemas that remember their JSON Schema. Other members stay unchanged. */
export const withSchemasOnce = (config: object): object => mapValues({ ...config }, convertOnce);

function convertOnce(schema: unknown): unknown {
  const standard = (schema as Partial<StandardSchemaWithJSON> | null | undefined)?.['~standard'];
  if (!standard?.jsonSchema) return schema;
  const found = known.get(schema as object);
  if (found) return found;
  const { validate, jsonSchema } = standard;
  const [input, output] = [jsonSchema.input, jsonSchema.output].map((to) => remember(to.bind(jsonSchema)));
  const value = { ...standard, validate: validate.bind(standard), jsonSchema: { input, output } };
  // The rest is inherited, for an author who uses the schema of a registered tool.
  const made = Object.create(schema as object, { '~standard': { value } });
  known.set(schema as object, made);
  return made;
}

function remember(convert: Convert): Convert {
  const converted = new Map<string, ReturnType<Convert>>();
  return (options) => {
    // The library's own options may hold anything, so they are not compared.
    if (options.libraryOptions !== undefined) return convert(options);
    const json = converted.get(options.target) ?? convert(options);
    converted.set(options.target, json);
    return json;
  };
}
