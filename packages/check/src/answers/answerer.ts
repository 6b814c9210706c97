/** Honest answers to a server's questions: the user's own, or made from the asked schema. */
import { isObject, type JsonObject, objectAt } from '../wire/json.ts';
import type { Asked } from '../wire/outcome.ts';
import { validContent } from './generate.ts';
import { whyUnfit } from './schema.ts';

export class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

export class Answerer {
  readonly #given: Readonly<Record<string, unknown>>;
  readonly #generate: boolean;
  readonly #seed: number;
  generated = false;

  constructor(given: Readonly<Record<string, unknown>>, generate: boolean, seed: number) {
    this.#given = given;
    this.#generate = generate;
    this.#seed = seed;
  }

  /** The `inputResponses` for these requests. @throws Unanswered where a question has no answer */
  responses(requests: Asked): JsonObject {
    return Object.fromEntries(Object.entries(requests).map(([key, one]) => [key, this.#one(key, one)]));
  }

  /** @throws Unanswered where an answer of the user's does not fit its form. An honest call cannot be made with it. */
  mustFit(requests: Asked): void {
    for (const [key, answer] of Object.entries(this.responses(requests))) {
      const { requestedSchema, mode } = objectAt(requests[key], 'params');
      if (mode === 'url' || !isObject(answer) || answer.action !== 'accept') continue;
      const why = whyUnfit(requestedSchema, answer.content);
      if (why !== undefined)
        throw new Unanswered(
          `The answer to '${key}' does not fit its form: ${why}. Give one such as ${exampleOf(key, requestedSchema)}.`,
        );
    }
  }

  #one(key: string, request: JsonObject): JsonObject {
    const given = Object.hasOwn(this.#given, key) ? this.#given[key] : this.#given['*'];
    const params = objectAt(request, 'params');
    if (request.method === 'roots/list') return { roots: Array.isArray(given) ? given : [] };
    if (request.method === 'sampling/createMessage') return samplingResult(given ?? this.#words(key));
    if (params.mode === 'url') return { action: 'accept' };
    if (isObject(given) && isRefusalOrAnswer(given)) return given;
    if (given !== undefined) return { action: 'accept', content: contentOf(given, params.requestedSchema) };
    if (!this.#generate) throw new Unanswered(this.#describeMissing(key, params));
    this.generated = true;
    return { action: 'accept', content: validContent(params.requestedSchema, this.#seed) };
  }

  #words(key: string): string {
    if (!this.#generate) throw new Unanswered(this.#describeMissing(key, { message: 'a sampling request' }));
    this.generated = true;
    return 'Yes.';
  }

  #describeMissing(key: string, { message, requestedSchema }: JsonObject): string {
    const keys = Object.keys(this.#given).map((one) => `'${one}'`);
    const others =
      keys.length === 0 ? '' : ` (there ${keys.length === 1 ? 'is one' : 'are some'} for ${keys.join(', ')})`;
    return (
      `The server asks '${key}' (${JSON.stringify(message)}), and no answer was given${others}. ` +
      `Add ${exampleOf(key, requestedSchema)} with an answer of yours, or --generate-answers.`
    );
  }
}

const isRefusalOrAnswer = ({ action }: JsonObject): boolean =>
  action === 'accept' || action === 'decline' || action === 'cancel';

/** A bare value is the form's only field. */
function contentOf(given: unknown, schema: unknown): unknown {
  if (isObject(given)) return given;
  const [field = 'value'] = Object.keys(objectAt(schema, 'properties'));
  return { [field]: given };
}

const samplingResult = (given: unknown): JsonObject =>
  isObject(given)
    ? given
    : { role: 'assistant', content: { type: 'text', text: String(given) }, model: 'mrtr-check' };

const exampleOf = (key: string, schema: unknown): string =>
  `--answer '${key}=${JSON.stringify(validContent(schema, 1))}'`;
