/** Honest answers to a server's questions: those given by the user, or generated from the schema. */
import { schemaOf } from '../observations/forms.ts';
import { inWorker, Unreadable, unlessUnreadable } from '../sandbox.ts';
import { Undecided } from '../session/session.ts';
import { asList, asObject, isObject, type JsonObject, mapMembers, objectAt } from '../wire/json.ts';
import type { Asked } from '../wire/outcome.ts';

/** The user gave no answer, or one that does not fit. */
export class Unanswered extends Undecided {}

export function createAnswerer(given: JsonObject, generate: boolean, seed: number) {
  /** Generated content for the forms that have no given answer. */
  const examples = new WeakMap<JsonObject, Example>();
  let generated = false;

  const findGiven = (key: string) => (Object.hasOwn(given, key) ? given[key] : given['*']);

  async function generateFor(request: JsonObject) {
    const schema = schemaOf(request);
    const content = await inWorker('validContent', schema, seed);
    return { content, fits: await inWorker('fits', schema, content) };
  }

  /** @throws Unanswered if the user wants no generated answers */
  function beginToGenerate(key: string, request: JsonObject, message: unknown) {
    generated = generate;
    if (generate) return;
    const keys = Object.keys(given).map((one) => `'${one}'`);
    const others =
      keys.length === 0 ? '' : ` (there ${keys.length === 1 ? 'is one' : 'are some'} for ${keys.join(', ')})`;
    throw new Unanswered(
      `The server asks '${key}' (${JSON.stringify(message)}), and no answer was given${others}. ` +
        `Add ${optionText(key, examples.get(request))} with an answer of yours, or --generate-answers.`,
    );
  }

  function responseTo(request: JsonObject, key: string) {
    const own = findGiven(key);
    const params = objectAt(request, 'params');
    if (request.method === 'roots/list') return { roots: asList(own) };
    if (request.method === 'sampling/createMessage') {
      if (own === undefined) beginToGenerate(key, request, 'a sampling request');
      return samplingResult(own ?? 'Yes.');
    }
    if (params.mode === 'url') return { action: 'accept' };
    if (isObject(own) && isRefusalOrAnswer(own)) return own;
    if (own !== undefined) return { action: 'accept', content: contentOf(own, params.requestedSchema) };
    beginToGenerate(key, request, params.message);
    const example = examples.get(request);
    if (!example) throw new Unreadable(`the form of '${key}' cannot be read`);
    return { action: 'accept', content: example.content };
  }

  /** The `inputResponses` for these requests. @throws Unanswered if a question has no answer */
  const responses = (requests: Asked) => mapMembers(requests, responseTo);

  return {
    get generated() {
      return generated;
    },
    responses,
    /** Generates content for the forms that have no given answer. Comes before {@link responses}. */
    async learn(requests: Asked) {
      for (const [key, request] of Object.entries(requests)) {
        if (findGiven(key) !== undefined || isPage(request)) continue;
        const example = await unlessUnreadable(generateFor(request));
        if (example) examples.set(request, example);
      }
    },
    /**
     * Requires an answer that fits each form, because an honest call needs them.
     *
     * @throws Unanswered if the user's answer does not fit its form, Undecided if no answer can
     */
    async mustFit(requests: Asked) {
      const forms = Object.entries(requests).filter(([, request]) => !isPage(request));
      for (const [key, request] of forms) {
        // An unreadable form counts as one that can be filled in.
        const why = await unlessUnreadable(inWorker('whyUnfillable', schemaOf(request)));
        if (why) throw new Undecided(`nobody can fill in the form of '${key}': ${why}`);
      }
      const answers = responses(requests);
      for (const [key, request] of forms) {
        const { action, content } = asObject(answers[key]);
        if (action !== 'accept') continue;
        const why = await unlessUnreadable(inWorker('whyUnfit', schemaOf(request), content));
        if (!why) continue;
        const one = optionText(key, await generateFor(request));
        throw new Unanswered(
          `The answer to '${key}' does not fit its form: ${why}. Give one such as ${one}.`,
        );
      }
    },
  };
}

const isRefusalOrAnswer = ({ action }: JsonObject) =>
  action === 'accept' || action === 'decline' || action === 'cancel';

/** Turns a bare value into the content of a form with one field. */
function contentOf(given: unknown, schema: unknown) {
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
