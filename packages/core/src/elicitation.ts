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

/** A schema's form, and the questions that were asked with it. */
interface Form {
  readonly requestedSchema: { readonly properties: Readonly<Record<string, unknown>> };
  readonly fields: readonly string[];
  readonly questions: Map<string, Elicitation>;
}

// Converting a zod schema costs 15 µs and gives the same value each time, so each schema is converted once. A question
// costs 5 µs more and comes again in each round of its call, if not in each call: the latest ones are kept.
const forms = new WeakMap<StandardSchemaWithJSON, Form>();
const QUESTIONS_KEPT = 64;
const LONGEST_KEPT = 1000;

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
  const form = formOf(message, schema);
  const kept = form.questions.get(message);
  if (kept) return kept as Elicitation<Schema>;
  const question = prepared(message, schema, form);
  if (message.length > LONGEST_KEPT) return question;
  if (form.questions.size === QUESTIONS_KEPT) form.questions.delete(form.questions.keys().next().value ?? '');
  form.questions.set(message, question);
  return question;
}

function formOf(message: string, schema: StandardSchemaWithJSON): Form {
  const known = forms.get(schema);
  if (known) return known;
  const { params } = inputRequired.elicit({ message, requestedSchema: schema });
  const { requestedSchema } = params as Pick<Form, 'requestedSchema'>;
  const form = { requestedSchema, fields: Object.keys(requestedSchema.properties), questions: new Map() };
  forms.set(schema, form);
  return form;
}

function prepared<Schema extends StandardSchemaWithJSON>(
  message: string,
  schema: Schema,
  { requestedSchema, fields }: Form,
): Elicitation<Schema> {
  const request = {
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema },
  } as unknown as InputRequest;
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
