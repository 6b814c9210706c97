/** Forms that some clients do not draw, and forms that nobody can answer. */
import { advise, cite, defineCheck, pass, recommend } from '../judging/check.ts';
import {
  choicesIn,
  isForm,
  listRequired,
  propertiesOf,
  schemaOf,
  textOfQuestion,
} from '../observations/forms.ts';
import { inWorker } from '../sandbox.ts';
import type { Turn } from '../session/session.ts';
import { nameOf } from '../target/target.ts';
import { asObject, type JsonObject, objectAt } from '../wire/json.ts';
import { nameOfQuestion } from '../wire/outcome.ts';
import { answerEmpty, EMPTY, PATIENCE } from './refusal.ts';
import { wireCheck } from './wire.ts';

/** The reason why some client does not draw a form, or sends something for a field that its user left empty. */
function whyNotDrawn(request: JsonObject, isDestructive: boolean) {
  const fields = Object.entries(propertiesOf(request));
  const required = listRequired(schemaOf(request));
  for (const [name, field] of fields) {
    const { type, format, minLength } = asObject(field);
    const isNumber = type === 'number' || type === 'integer';
    const isLimited =
      isNumber || format !== undefined || Number(minLength) > 0 || choicesIn(field).length > 0;
    if (format === 'date-time')
      return `'${name}' is a date-time: accept it without a zone too, as some clients send it`;
    if (fields.length > 1 && (isNumber || type === 'array'))
      return `'${name}' is no text, and stands beside other fields`;
    if (!required.includes(name) && isLimited)
      return `'${name}' may be left empty, and some clients then send '' or 0, which does not fit`;
    if (fields.length === 1 && type === 'boolean' && isDestructive)
      return `'${name}' alone confirms a destructive tool, and some clients preselect yes`;
  }
  return undefined;
}

async function whyImpossible({ reply }: Turn) {
  for (const [key, request] of Object.entries(objectAt(reply.result, 'inputRequests'))) {
    const why = isForm(request) ? await inWorker('whyUnfillable', schemaOf(request)) : undefined;
    if (why) return `nobody can fill in the form of ${nameOfQuestion(key, asObject(request))}: ${why}`;
  }
  return undefined;
}

const MOST = 3;

export const FORM = [
  /** docs/clients.md has the clients. */
  defineCheck('form.portable', 'A', {
    expected: 'Every client draws its forms as they are meant.',
    clause: recommend(
      'a recommendation about clients (docs/clients.md)',
      'Some clients do not draw each legal field, or send something for one that their user left empty.',
    ),
    remedy:
      'Ask for texts, yes or no, or one choice, all required, and a number in a question of its own; confirm by a choice. ' +
      'docs/questions.md has the spellings.',
    needs: ['form'],
    calls: () => 0,
    run: async ({ facts, entries, operation }) => {
      const { destructiveHint } = objectAt(entries.get(nameOf(operation)), 'annotations');
      for (const { key, request } of facts.questions) {
        const why = whyNotDrawn(request, destructiveHint === true);
        if (why) return advise(`In the form of ${nameOfQuestion(key, request)}, ${why}.`);
      }
      return pass('texts, yes or no, and choices');
    },
  }),
  wireCheck('form.impossible', {
    level: 'A',
    expected: 'Some answer fits each form.',
    clause: cite(
      'client/elicitation, request',
      'requestedSchema: A JSON Schema defining the structure of the expected response.',
    ),
    remedy: 'Let the bounds and the choices of each required field leave a value.',
    fault: whyImpossible,
  }),
  defineCheck('form.rounds', 'A', {
    expected: `A question that gets the same unfit answers is not asked more than ${MOST} times in the same words.`,
    clause: cite(
      'client/elicitation, request',
      'message: A human-readable message explaining why the interaction is needed.',
    ),
    remedy:
      'Say in the second prompt why the answer did not fit, and end the call after the third: a client that cannot draw ' +
      'the form answers the same for ever. In TypeScript: `readAnswer` and the shapes of @mrtr/core.',
    needs: ['form'],
    calls: () => PATIENCE + 1,
    run: async (context) => {
      const { session, outcome } = await answerEmpty(context);
      const texts = session.questions.map(({ requests }) =>
        Object.values(requests).map(textOfQuestion).join(),
      );
      const times = texts.filter((text) => text === texts.at(-1)).length;
      if (times > MOST)
        return advise(`The same words were asked ${times} times, of a client that sends ${EMPTY}.`, session);
      return pass(`prompt ${texts.length} was the last: ${outcome}`, session);
    },
  }),
];
