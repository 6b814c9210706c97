/** A question to the user, prepared: its form is worked out once and not on every round. */
import { inputRequired } from '@modelcontextprotocol/server';
import { interpret } from './answer.ts';
import { type Question, questionDigest } from './question.ts';
import type { ElicitResult, InputRequest, StandardSchemaV1, StandardSchemaWithJSON } from './wire.ts';

/** A question to the user whose answer must fit `schema`. Made by {@link elicitation}. */
export interface Elicitation<Schema extends StandardSchemaWithJSON = StandardSchemaWithJSON>
  extends Question<StandardSchemaV1.InferOutput<Schema>> {
  readonly kind: 'elicitation';
  readonly schema: Schema;
  /** The names of the form's fields: all that an answer to it may carry. */
  readonly fields: readonly string[];
}

type RequestedSchema = { properties: Record<string, unknown> };

// Converting a zod schema costs 15 µs and gives the same value each time, so each schema is converted once.
const requestedSchemas = new WeakMap<StandardSchemaWithJSON, RequestedSchema>();

/**
 * Prepares a question.
 *
 * @param message what the user reads. Keep what changes by itself (the time, a random id) out of it: an
 * answer is pinned to its question, and a question that changes between rounds is asked for ever.
 * @param schema a flat object of primitives, as elicitation forms allow: any Standard Schema that converts
 * to JSON Schema (zod 4, ArkType, Valibot). It has to validate synchronously.
 * @throws TypeError when the schema cannot be expressed as a form; nothing is sent.
 * @example const units = elicitation('Which units?', z.object({ units: z.enum(['metric', 'imperial']) }));
 */
export function elicitation<Schema extends StandardSchemaWithJSON>(
  message: string,
  schema: Schema,
): Elicitation<Schema> {
  let requestedSchema = requestedSchemas.get(schema);
  if (!requestedSchema) {
    const { params } = inputRequired.elicit({ message, requestedSchema: schema });
    requestedSchema = (params as { requestedSchema: RequestedSchema }).requestedSchema;
    requestedSchemas.set(schema, requestedSchema);
  }
  const request = {
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema },
  } as InputRequest;
  const fields = Object.keys(requestedSchema.properties);
  return {
    kind: 'elicitation',
    message,
    schema,
    request,
    digest: questionDigest(request),
    fields,
    read: (response) => interpret(response, { message, schema }),
    keep: (response) => pruned(response as ElicitResult, fields),
  };
}

/** Of an elicitation's result, only what its form asked for: the rest is the client's, and would ride along. */
function pruned({ action, content }: ElicitResult, fields: readonly string[]): unknown {
  if (action !== 'accept' || content == null) return { action };
  const asked = fields.filter((field) => Object.hasOwn(content, field));
  return { action, content: Object.fromEntries(asked.map((field) => [field, content[field]])) };
}
