/** Prepares questions to the user. Each form is made once, and not in every round. */
import {
  type ElicitRequestFormParams,
  type ElicitResult,
  fromJsonSchema,
  type InputRequest,
  inputRequired,
  inputResponse,
  isSpecType,
  type StandardSchemaV1,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server';
import { asError } from '../diagnostics/log-line.ts';
import { InvalidDefinition } from '../errors.ts';
import { anyValue, aText, type OptionCheck, requireArgument, requireOptions } from '../options.ts';
import { type Members, mapValues } from '../wire/wire.ts';
import type { Accepted, Answer, Refusal } from './answer.ts';
import { withFormChoices } from './form-choices.ts';
import { type Question, question } from './question.ts';
import { type CheckedForm, requireAnswerable } from './require-answerable.ts';
import { textOf, type Words } from './words.ts';

/** A question to the user whose answer must fit `schema`. Made by {@link elicitation}. */
export interface Elicitation<Schema extends StandardSchemaWithJSON = StandardSchemaWithJSON>
  extends Question<StandardSchemaV1.InferOutput<Schema>> {
  readonly kind: 'elicitation';
  readonly schema: Schema;
  /** The names of the form's fields. Other fields of an answer are dropped. */
  readonly fields: readonly string[];
}

/** The protocol's form: a flat JSON Schema of primitive fields. */
export type ElicitationForm = ElicitRequestFormParams['requestedSchema'];

/** The fields of an answer to an {@link ElicitationForm}. */
export type FormContent = NonNullable<ElicitResult['content']>;

/** The options of {@link elicitation}. */
export interface ElicitationOptions<Value> {
  /** The answer for a client that cannot be asked. Without it, the call of such a client ends with an error. */
  readonly fallback?: Value;
}

/** @throws InvalidOption for an option that a question does not have. */
export const requireElicitationOptions = (owner: string, options: ElicitationOptions<unknown>) =>
  requireOptions(owner, options, { fallback: anyValue });

// Converting a zod schema costs 15 µs and always gives the same form, so each schema is converted once.
const forms = new WeakMap<StandardSchemaWithJSON, PreparedForm>();

/** A form, and the names of its fields, which all questions of its schema share. */
interface PreparedForm {
  readonly form: CheckedForm;
  readonly fields: readonly string[];
  /** The latest question. A handler that makes its question in each call gets the same one: a parked frame keeps it. */
  latest?: Elicitation;
}

function prepare(schema: StandardSchemaWithJSON, form: CheckedForm) {
  const prepared: PreparedForm = { form, fields: Object.freeze(Object.keys(form.properties)) };
  forms.set(schema, prepared);
  return prepared;
}

/**
 * Prepares a question.
 *
 * @param message the text that the user reads; `words` where it shows an argument. Keep changing values (the time, a
 * random id) out of it: an answer counts only for the same question, so a question that changes between rounds is asked
 * again each time.
 * @param schema a flat object of texts, numbers, booleans and choices of texts, as elicitation forms allow: any
 * Standard Schema that converts to JSON Schema (zod 4, ArkType, Valibot with `toStandardJsonSchema`). It has to
 * validate synchronously: it is tried with an invented answer. A form has no choice of numbers, no `null` and no pattern: ask for the text, and check it in
 * the handler. Or a finished form, as for `elicitInput`; it is sent unchanged.
 * @param options `fallback`: the answer for a client that cannot be asked.
 * @throws InvalidOption for an unknown option, and without a message or a schema.
 * @throws InvalidDefinition that names the fields, when the schema cannot be expressed as a form; nothing is sent.
 * @example const units = elicitation('Which units?', z.object({ units: z.enum(['metric', 'imperial']) }));
 */
export function elicitation<Content = FormContent>(
  message: string | Words,
  form: ElicitationForm,
  options?: ElicitationOptions<Content>,
): Elicitation<StandardSchemaWithJSON<Content, Content>>;
export function elicitation<Schema extends StandardSchemaWithJSON>(
  message: string | Words,
  schema: Schema,
  options?: ElicitationOptions<StandardSchemaV1.InferOutput<Schema>>,
): Elicitation<Schema>;
export function elicitation(
  message: string | Words,
  schemaOrForm: StandardSchemaWithJSON | ElicitationForm,
  options: ElicitationOptions<unknown> = {},
): Elicitation {
  requireElicitationOptions('elicitation', options);
  const text = textOf(message);
  requireArgument('elicitation', 'message', text, aText);
  requireArgument('elicitation', 'schema', schemaOrForm, A_SCHEMA);
  const schema =
    '~standard' in schemaOrForm ? (schemaOrForm as StandardSchemaWithJSON) : schemaOf(text, schemaOrForm);
  const prepared = formOf(text, schema);
  const { form, fields, latest } = prepared;
  if (latest?.message === text && latest.fallback === options.fallback) return latest;
  const made = question<unknown, Pick<Elicitation, 'kind' | 'schema' | 'fields'>>(
    {
      kind: 'elicitation',
      message: text,
      request: formRequest(text, form),
      schema,
      fields,
      read: (response) => interpret(response, text, schema, form),
      keep: (response) => prune(response as ElicitResult, fields),
    },
    options.fallback,
  );
  prepared.latest = Object.freeze(made);
  return made;
}

// A schema can be a function: ArkType's are.
const A_SCHEMA: OptionCheck = {
  allowed: 'a schema or a form',
  isAllowed: (value) => (typeof value === 'object' && value !== null) || typeof value === 'function',
};

// A form given as JSON Schema is copied, and its schema is compiled once. If the author changes the form later, that
// makes another question.
interface ConvertedForm {
  readonly text: string;
  readonly schema: StandardSchemaWithJSON;
}
const convertedForms = new WeakMap<ElicitationForm, ConvertedForm>();

function schemaOf(message: string, form: ElicitationForm) {
  const text = JSON.stringify(form) ?? 'null';
  const known = convertedForms.get(form);
  if (known?.text === text) return known.schema;
  const fields = Object.values(form);
  if (
    fields.length > 0 &&
    fields.every((field) => typeof field === 'object' && field !== null && '~standard' in field)
  )
    throw new InvalidDefinition(
      'A question needs a schema of an object, and got its fields alone: wrap it in z.object(…), as in ' +
        'elicitation(message, z.object({ … })).',
    );
  const copy: ElicitationForm = JSON.parse(text, freeze);
  if (!isSpecType.ElicitRequestFormParams({ mode: 'form', message: '', requestedSchema: copy }))
    throw new InvalidDefinition(
      'A question needs a flat form: { type: "object", properties: { … } }, with fields that are text, numbers, yes or ' +
        'no, or a choice.',
    );
  requireAnswerable(message, copy as CheckedForm);
  const schema = fromJsonSchema(copy as Parameters<typeof fromJsonSchema>[0]);
  convertedForms.set(form, { text, schema });
  prepare(schema, copy as CheckedForm);
  return schema;
}

function formOf(message: string, schema: StandardSchemaWithJSON) {
  const known = forms.get(schema);
  if (known) return known;
  const form = convertSchema(message, schema);
  requireAnswerable(message, form);
  requireSynchronous(message, schema, form);
  return prepare(schema, form);
}

/**
 * Reads an invented answer, because a schema does not say that it validates asynchronously.
 *
 * @throws InvalidDefinition if it does.
 */
function requireSynchronous(message: string, schema: StandardSchemaV1, { properties }: CheckedForm) {
  const invented = mapValues(properties as Readonly<Record<string, FormField>>, inventValue);
  try {
    validate(message, schema, invented);
  } catch (error) {
    // A check of the author may throw for an invented value, and then zod gives a promise too. Its `safeParse` tells them apart.
    const isAsynchronous = error instanceof InvalidDefinition && !throwsOwnError(schema, invented);
    if (isAsynchronous) throw error;
  }
}

function throwsOwnError(schema: object, value: unknown) {
  try {
    (schema as { safeParse?(value: unknown): unknown }).safeParse?.(value);
    return false;
  } catch (error) {
    return !String(error).includes('Encountered Promise');
  }
}

/** Zod goes on to later checks after a limit or a format that a value does not fit. */
const INVENTED: Members = {
  string: 'x',
  number: 1,
  integer: 1,
  boolean: true,
  array: [],
};

function inventValue({ type, enum: values = [], oneOf: choices = [] }: FormField) {
  return values[0] ?? choices[0]?.const ?? INVENTED[type ?? ''];
}

interface FormField {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly { readonly const: unknown }[];
}

function convertSchema(message: string, schema: StandardSchemaWithJSON) {
  try {
    const { params } = inputRequired.elicit({ message, requestedSchema: withFormChoices(schema) });
    const { requestedSchema } = params as { readonly requestedSchema: CheckedForm };
    // A frozen copy: parts of it may be the author's, who may change them later.
    return JSON.parse(JSON.stringify(requestedSchema), freeze) as CheckedForm;
  } catch (cause) {
    const why = asError(cause).message.replace(/\.$/, '');
    throw new InvalidDefinition(
      `The schema of "${message}" cannot be a form. ${why}. Ask for text, numbers, yes or no, or a choice of texts, one ` +
        'field for each, and check the rest in the handler.',
      { cause },
    );
  }
}

const freeze = (_key: string, value: unknown): unknown => Object.freeze(value);

/** The request that asks for a form. */
export const formRequest = (message: string, requestedSchema: object): InputRequest =>
  ({ method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } }) as InputRequest;

/** Reads the action of one bare elicitation result; the value is the content of an accepted one. */
export function readAction(
  response: unknown,
): Accepted<object | undefined> | Refusal | { readonly kind: 'missing' } {
  const view = inputResponse({ response }, 'response');
  if (view.kind !== 'elicit') return { kind: 'missing' };
  if (view.action === 'accept') return { kind: 'accepted', value: view.content };
  return { kind: view.action === 'decline' ? 'declined' : 'cancelled' };
}

/**
 * Reads one bare elicitation result. The schema sees only the form's fields. An answer that does not fit is read once
 * more without its blank optional fields: many clients send a field that their user left empty.
 */
function interpret(
  response: unknown,
  message: string,
  schema: StandardSchemaV1,
  { properties, required = [] }: CheckedForm,
): Answer<unknown> {
  const answer = readAction(response);
  if (answer.kind !== 'accepted') return answer;
  const { value: content } = answer;
  const given = onlyFields(content ?? {}, Object.keys(properties));
  let outcome = validate(message, schema, given);
  const blank = Object.keys(given).filter((name) => isBlank(given[name]) && !required.includes(name));
  if (outcome.issues && blank.length > 0) {
    for (const name of blank) delete given[name];
    outcome = validate(message, schema, given);
  }
  if (!outcome.issues) return { kind: 'accepted', value: outcome.value };
  return content === undefined ? { kind: 'missing' } : { kind: 'invalid', issues: outcome.issues };
}

/** Whether clients send `value` for a field that was left empty. */
export const isBlank = (value: unknown) =>
  value === '' || value === null || (Array.isArray(value) && value.length === 0);

function validate(message: string, schema: StandardSchemaV1, value: unknown) {
  const outcome = schema['~standard'].validate(value);
  if (!(outcome instanceof Promise)) return outcome;
  // Zod, for example, validates again asynchronously when a refinement throws. Nobody awaits that promise.
  outcome.catch(() => {});
  throw new InvalidDefinition(
    `The schema of "${message}" validates asynchronously; answers are read synchronously. Check in the handler what needs ` +
      'to wait, and ask again if it does not hold.',
  );
}

/** The part of an elicitation's result that its form asked for. */
export function prune({ action, content }: ElicitResult, fields: readonly string[]): object {
  return action !== 'accept' || content == null
    ? { action }
    : { action, content: onlyFields(content, fields) };
}

const onlyFields = (content: object, fields: readonly string[]) =>
  Object.fromEntries(
    fields
      .filter((field) => Object.hasOwn(content, field))
      .map((field) => [field, (content as Record<string, unknown>)[field]]),
  );
