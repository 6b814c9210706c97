/** A question, prepared: its wire request and its digest are worked out once and not on every round. */
import { hash } from 'node:crypto';
import { inputRequired } from '@modelcontextprotocol/server';
import { canonicalJson } from './state/canonical-json.ts';
import type { InputRequest, StandardSchemaV1, StandardSchemaWithJSON } from './wire.ts';

/** A question to the user whose answer must fit `schema`. Made by {@link elicitation}. */
export interface Elicitation<Schema extends StandardSchemaWithJSON = StandardSchemaWithJSON> {
  readonly message: string;
  readonly schema: Schema;
  /** The `elicitation/create` request as it goes out. */
  readonly request: InputRequest;
  /** {@link questionDigest} of the request. */
  readonly digest: string;
  /** The names of the form's fields: all that an answer to it may carry. */
  readonly fields: readonly string[];
}

/** What an accepted answer to `E` holds. */
export type AnswerOf<E extends Elicitation> = StandardSchemaV1.InferOutput<E['schema']>;

/** Several questions of one round, under the keys that they have on the wire. */
export type Questions = Readonly<Record<string, Elicitation>>;

/** The accepted answers to {@link Questions}, under the same keys. */
export type Answers<Q extends Questions> = { [Key in keyof Q]: AnswerOf<Q[Key]> };

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
  return {
    message,
    schema,
    request,
    digest: questionDigest(request),
    fields: Object.keys(requestedSchema.properties),
  };
}

/**
 * Eight characters that tell one question from another: of an input request's method and parameters, so of
 * the message and the schema. It detects change; the seal around it is what keeps it honest.
 */
export const questionDigest = (request: InputRequest): string =>
  hash('sha256', canonicalJson(request), 'base64url').slice(0, 8);
