/** Questions for a yes: what in them reads as a no, and what their user is shown. */
import { asText } from '@mrtr/harness/transcript';
import { choicesIn } from '../answers/choices.ts';
import { isObject, type JsonObject, objectAt } from '../wire/json.ts';
import type { Asked } from '../wire/outcome.ts';
import { fieldsOf, isElicitation, isForm, propertiesOf, requiresNothing } from './forms.ts';

/** How a question asks for a yes: on a page, by a required choice that has no default, or by another form. */
export type Rung = 'page' | 'choice' | 'form';

const NO =
  /^(?:no|not|deny|denied|decline|refuse|reject|cancel|abort|stop|never|disagree|do(?:n['’]?t| not))\b/i;

/** The choice of a field that reads as a no, by its value or its title. */
export function refusalIn(field: unknown): unknown {
  const { enumNames, oneOf, anyOf } = isObject(field) ? field : {};
  const [names, titled] = [enumNames, oneOf ?? anyOf].map((list) => (Array.isArray(list) ? list : []));
  const titles = (titled ?? []).map((one) => (isObject(one) ? one.title : ''));
  const readsAsNo = (choice: unknown, at: number) =>
    [choice, titles[at], names?.[at]].some((text) => NO.test(asText(text).slice(0, 100)));
  return choicesIn(field).find(readsAsNo);
}

/** Whether a field is a yes or a no: a boolean, or a choice in which something refuses. */
const isYesOrNo = (field: unknown): boolean =>
  isObject(field) && (field.type === 'boolean' || refusalIn(field) !== undefined);

/** Whether a question asks for a yes: by a URL, by a form without fields, or by a field that is a yes or a no. */
export const asksForYes = (request: JsonObject): boolean =>
  isElicitation(request) &&
  (!isForm(request) || fieldsOf(request).length === 0 || fieldsOf(request).some(isYesOrNo));

export function rungOfAll(requests: readonly JsonObject[]): Rung {
  const isChoice = (request: JsonObject) =>
    !requiresNothing(request) &&
    fieldsOf(request).some(
      (field) => isObject(field) && refusalIn(field) !== undefined && field.default === undefined,
    );
  if (requests.some((request) => isElicitation(request) && !isForm(request))) return 'page';
  return requests.some(isChoice) ? 'choice' : 'form';
}

/** The content of an answer in which each yes is a no, or undefined where there is no yes to turn round. */
export function contentOfNo(request: unknown, content: JsonObject): JsonObject | undefined {
  const changed = Object.entries(propertiesOf(request)).flatMap(([name, field]) => {
    const no = content[name] === true ? false : refusalIn(field);
    return no === undefined || no === content[name] ? [] : [[name, no]];
  });
  return changed.length === 0 ? undefined : { ...content, ...Object.fromEntries(changed) };
}

const defaultOf = (field: unknown): unknown => (isObject(field) ? field.default : undefined);
const isChosen = (field: unknown): boolean => isYesOrNo(field) || choicesIn(field).length > 0;

/** The choices that a form makes by its defaults, by the names of their fields. */
export const choicesMade = (request: unknown): JsonObject =>
  Object.fromEntries(
    Object.entries(propertiesOf(request))
      .filter(([, field]) => isChosen(field) && defaultOf(field) !== undefined)
      .map(([name, field]) => [name, defaultOf(field)]),
  );

/** The content of a form that is sent as it stands: its defaults, what has none as in `content`, and no yes beside that. */
export const contentAsShown = (request: unknown, content: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(propertiesOf(request))
      .map(([name, field]) => [name, defaultOf(field) ?? (isYesOrNo(field) ? undefined : content[name])])
      .filter(([, value]) => value !== undefined),
  );

/** Every text that the user of these questions may be shown, and not their keys and addresses. */
export const textsOf = (requests: Asked): readonly string[] =>
  Object.values(requests).flatMap((request) => {
    const { message, requestedSchema } = objectAt(request, 'params');
    return [asText(message), ...textsIn(requestedSchema)];
  });

function textsIn(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(textsIn);
  if (isObject(schema)) return Object.values(schema).flatMap(textsIn);
  return typeof schema === 'string' || typeof schema === 'number' ? [String(schema)] : [];
}
