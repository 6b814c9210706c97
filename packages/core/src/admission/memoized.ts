/** Converts a schema to JSON Schema once, and not once for each server instance. */
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';

type JsonSchema = StandardSchemaWithJSON['~standard']['jsonSchema'];

const known = new WeakMap<object, StandardSchemaWithJSON>();

/**
 * The same schema, with its JSON form remembered. The SDK remembers it per server instance, and on stateless serving
 * each request has its own instance. With zod that costs 6 µs on every call of a tool. {@link protectedServer} does
 * this for the input schema of each tool.
 */
export function withMemoizedJson<Schema extends StandardSchemaWithJSON>(
  schema: Schema,
): StandardSchemaWithJSON & Pick<Schema, '~standard'> {
  const found = known.get(schema);
  if (found) return found as Schema;
  const { version, vendor, validate, jsonSchema } = schema['~standard'];
  const input = remembering((options) => jsonSchema.input(options));
  const output = remembering((options) => jsonSchema.output(options));
  const made: StandardSchemaWithJSON = {
    '~standard': { version, vendor, validate, jsonSchema: { input, output } },
  };
  known.set(schema, made);
  return made as Schema;
}

function remembering(convert: JsonSchema['input']): JsonSchema['input'] {
  const converted = new Map<string, Record<string, unknown>>();
  return (options) => {
    // A library's own options may hold anything: those are not compared.
    if (options.libraryOptions !== undefined) return convert(options);
    const json = converted.get(options.target) ?? convert(options);
    converted.set(options.target, json);
    return json;
  };
}
