/** Honest answers to a server's questions: those given by the user, or generated from the schema. */
import { inWorker, Unreadable, unlessUnreadable } from '../sandbox.ts';
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
  /** Generated content for the forms that have no given answer. */
  readonly #examples = new WeakMap<JsonObject, Example>();

  constructor(given: JsonObject, generate: boolean, seed: number) {
    this.#given = given;
    this.#generate = generate;
    this.#seed = seed;
  }

  /** Generates content for the forms that have no given answer. Comes before {@link responses}. */
  async learn(requests: Asked) {
    for (const [key, request] of Object.entries(requests)) {
      if (this.#findGiven(key) !== undefined || isPage(request)) continue;
      const example = await unlessUnreadable(this.#generateFor(request));
      if (example) this.#examples.set(request, example);
    }
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
  async mustFit(requests: Asked) {
    const forms = Object.entries(requests).filter(([, request]) => !isPage(request));
    for (const [key, request] of forms) {
      // An unreadable form counts as one that can be filled in.
      const why = await unlessUnreadable(inWorker('whyUnfillable', schemaOf(request)));
      if (why !== undefined) throw new Error(`nobody can fill in the form of '${key}': ${why}`);
    }
    const answers = this.responses(requests);
    for (const [key, request] of forms) {
      const answer = answers[key];
      if (!isObject(answer) || answer.action !== 'accept') continue;
      const why = await unlessUnreadable(inWorker('whyUnfit', schemaOf(request), answer.content));
      if (why === undefined) continue;
      const one = optionText(key, await this.#generateFor(request));
      throw new Unanswered(`The answer to '${key}' does not fit its form: ${why}. Give one such as ${one}.`);
    }
  }

  #one(key: string, request: JsonObject) {
    const given = this.#findGiven(key);
    const params = objectAt(request, 'params');
    if (request.method === 'roots/list') return { roots: asList(given) };
    if (request.method === 'sampling/createMessage') {
      if (given === undefined) this.#beginToGenerate(key, request, 'a sampling request');
      return samplingResult(given ?? 'Yes.');
    }
    if (params.mode === 'url') return { action: 'accept' };
    if (isObject(given) && isRefusalOrAnswer(given)) return given;
    if (given !== undefined) return { action: 'accept', content: contentOf(given, params.requestedSchema) };
    this.#beginToGenerate(key, request, params.message);
    const generated = this.#examples.get(request);
    if (generated === undefined) throw new Unreadable(`the form of '${key}' cannot be read`);
    return { action: 'accept', content: generated.content };
  }

  async #generateFor(request: JsonObject): Promise<Example> {
    const schema = schemaOf(request);
    const content = await inWorker('validContent', schema, this.#seed);
    return { content, fits: await inWorker('fits', schema, content) };
  }

  #findGiven(key: string) {
    return Object.hasOwn(this.#given, key) ? this.#given[key] : this.#given['*'];
  }

  /** @throws Unanswered if the user wants no generated answers */
  #beginToGenerate(key: string, request: JsonObject, message: unknown) {
    this.generated = this.#generate;
    if (this.#generate) return;
    const keys = Object.keys(this.#given).map((one) => `'${one}'`);
    const others =
      keys.length === 0 ? '' : ` (there ${keys.length === 1 ? 'is one' : 'are some'} for ${keys.join(', ')})`;
    throw new Unanswered(
      `The server asks '${key}' (${JSON.stringify(message)}), and no answer was given${others}. ` +
        `Add ${optionText(key, this.#examples.get(request))} with an answer of yours, or --generate-answers.`,
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

interface Example {
  readonly content: JsonObject;
  /** Whether the content fits. The generator finds none for some patterns. */
  readonly fits: boolean;
}

/** The option, with an example of an answer if there is one. */
const optionText = (key: string, example: Example | undefined) =>
  `--answer '${key}=${example?.fits ? JSON.stringify(example.content) : '{…}'}'`;

const isPage = (request: JsonObject) => objectAt(request, 'params').mode === 'url';

const schemaOf = (request: JsonObject) => objectAt(request, 'params').requestedSchema;
