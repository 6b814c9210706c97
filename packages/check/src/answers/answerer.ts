/** Honest answers to a server's questions: those given by the user, or generated from the schema. */
import { inWorker, unlessUnreadable } from '../sandbox.ts';
import { asList, isObject, type JsonObject, mapMembers, objectAt } from '../wire/json.ts';
import type { Asked } from '../wire/outcome.ts';

export class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

export class Answerer {
  readonly #given: JsonObject;
  readonly #generate: boolean;
  readonly #seed: number;
  generated = false;

  constructor(given: JsonObject, generate: boolean, seed: number) {
    this.#given = given;
    this.#generate = generate;
    this.#seed = seed;
  }

  /** The `inputResponses` for these requests. @throws Unanswered if a question has no answer */
  responses(requests: Asked) {
    return mapMembers(requests, (one, key) => this.#one(key, one));
  }

  /**
   * Requires an answer that fits each form, because an honest call needs them.
   *
   * @throws Unanswered if the user's answer does not fit its form, Error if no answer can
   */
  mustFit(requests: Asked) {
    const forms = Object.entries(requests).flatMap(([key, request]) => {
      const { requestedSchema, mode } = objectAt(request, 'params');
      return mode === 'url' ? [] : [{ key, requestedSchema }];
    });
    for (const { key, requestedSchema } of forms) {
      // An unreadable form counts as one that can be filled in.
      const why = unlessUnreadable(() => inWorker.whyUnfillable(requestedSchema));
      if (why !== undefined) throw new Error(`nobody can fill in the form of '${key}': ${why}`);
    }
    const answers = this.responses(requests);
    for (const { key, requestedSchema } of forms) {
      const answer = answers[key];
      if (!isObject(answer) || answer.action !== 'accept') continue;
      const why = unlessUnreadable(() => inWorker.whyUnfit(requestedSchema, answer.content));
      if (why === undefined) continue;
      const one = exampleOf(key, requestedSchema);
      throw new Unanswered(`The answer to '${key}' does not fit its form: ${why}. Give one such as ${one}.`);
    }
  }

  #one(key: string, request: JsonObject) {
    const given = Object.hasOwn(this.#given, key) ? this.#given[key] : this.#given['*'];
    const params = objectAt(request, 'params');
    if (request.method === 'roots/list') return { roots: asList(given) };
    if (request.method === 'sampling/createMessage') {
      if (given === undefined) this.#beginToGenerate(key, { message: 'a sampling request' });
      return samplingResult(given ?? 'Yes.');
    }
    if (params.mode === 'url') return { action: 'accept' };
    if (isObject(given) && isRefusalOrAnswer(given)) return given;
    if (given !== undefined) return { action: 'accept', content: contentOf(given, params.requestedSchema) };
    this.#beginToGenerate(key, params);
    return { action: 'accept', content: inWorker.validContent(params.requestedSchema, this.#seed) };
  }

  /** @throws Unanswered if the user wants no generated answers */
  #beginToGenerate(key: string, { message, requestedSchema }: JsonObject) {
    this.generated = this.#generate;
    if (this.#generate) return;
    const keys = Object.keys(this.#given).map((one) => `'${one}'`);
    const others =
      keys.length === 0 ? '' : ` (there ${keys.length === 1 ? 'is one' : 'are some'} for ${keys.join(', ')})`;
    throw new Unanswered(
      `The server asks '${key}' (${JSON.stringify(message)}), and no answer was given${others}. ` +
        `Add ${exampleOf(key, requestedSchema)} with an answer of yours, or --generate-answers.`,
    );
  }
}

const isRefusalOrAnswer = ({ action }: JsonObject) =>
  action === 'accept' || action === 'decline' || action === 'cancel';

/** Turns a bare value into the content of a form with one field. */
function contentOf(given: unknown, schema: unknown): unknown {
  if (isObject(given)) return given;
  const [field = 'value'] = Object.keys(objectAt(schema, 'properties'));
  return { [field]: given };
}

const samplingResult = (given: unknown) =>
  isObject(given)
    ? given
    : { role: 'assistant', content: { type: 'text', text: String(given) }, model: 'mrtr-check' };

/** An example of the option. It has no content if the generator finds none that fits, as for a pattern. */
function exampleOf(key: string, schema: unknown) {
  const content = inWorker.validContent(schema, 1);
  return `--answer '${key}=${inWorker.fits(schema, content) ? JSON.stringify(content) : '{…}'}'`;
}
