/** Questions that ask for consent: the choices that refuse, and the text that the user sees. */
import { choicesOf } from '@mrtr/harness/internal';
import { asText } from '@mrtr/harness/transcript';
import { asObject, type JsonObject, mapMembers, objectAt } from '../wire/json.ts';
import type { Asked } from '../wire/outcome.ts';
import {
  choicesIn,
  fieldsOf,
  isElicitation,
  isForm,
  isPage,
  leavesIn,
  propertiesOf,
  requiresNothing,
} from './forms.ts';

/** How a question asks for consent: on a page, by a required choice without a default, or by another form. */
export type ConsentKind = 'page' | 'choice' | 'form';

const NO =
  /^(?:no|not|deny|denied|decline|refuse|reject|cancel|abort|stop|never|disagree|do(?:n['’]?t| not))\b/i;

/** The choice of a field that reads as a no, by its value or its title. */
export function refusalIn(field: unknown) {
  const readsAsNo = (text: unknown) => NO.test(asText(text).slice(0, 100));
  return choicesOf(asObject(field)).find(({ value, title }) => readsAsNo(value) || readsAsNo(title))?.value;
}

/** Whether a field asks yes or no: a boolean, or choices of which one refuses. */
export const isYesOrNo = (field: unknown) =>
  asObject(field).type === 'boolean' || refusalIn(field) !== undefined;

/** Whether a question asks for consent: by a URL, by a form without fields, or by a yes-or-no field. */
export const asksForYes = (request: JsonObject) =>
  isElicitation(request) &&
  (!isForm(request) || fieldsOf(request).length === 0 || fieldsOf(request).some(isYesOrNo));

export function consentKindOfAll(requests: readonly JsonObject[]): ConsentKind {
  const isChoice = (request: JsonObject) =>
    !requiresNothing(request) &&
    fieldsOf(request).some((field) => refusalIn(field) !== undefined && defaultOf(field) === undefined);
  if (requests.some(isPage)) return 'page';
  return requests.some(isChoice) ? 'choice' : 'form';
}

/** The answer with a no for each yes. It refuses, as a decline does. */
export const noTo = (answer: JsonObject, request: JsonObject) => {
  const content = objectAt(answer, 'content');
  const noes = answer.action === 'accept' ? noesTo(request, content) : {};
  return Object.keys(noes).length === 0 ? answer : { ...answer, content: { ...content, ...noes } };
};

/** A no for each yes in the content. */
export const noesTo = (request: unknown, content: JsonObject) =>
  mapMembers(propertiesOf(request), (field, name) => {
    const no = content[name] === true ? false : refusalIn(field);
    return no === content[name] ? undefined : no;
  });

const defaultOf = (field: unknown) => asObject(field).default;
const isChosen = (field: unknown) => isYesOrNo(field) || choicesIn(field).length > 0;

/** The defaults of a form's choices, by field name. */
export const choicesMade = (request: unknown) =>
  mapMembers(propertiesOf(request), (field) => (isChosen(field) ? defaultOf(field) : undefined));

/** The content of a form sent unchanged: its defaults, and values of `content` for other fields, except yes-or-no ones. */
export const contentAsShown = (request: unknown, content: JsonObject) =>
  mapMembers(
    propertiesOf(request),
    (field, name) => defaultOf(field) ?? (isYesOrNo(field) ? undefined : content[name]),
  );

/** Every text of these questions that the user may see. Keys and addresses are not among them. */
export const textsOf = (requests: Asked) =>
  Object.values(requests).flatMap((request) => {
    const { message, requestedSchema } = objectAt(request, 'params');
    return [asText(message), ...leavesIn(requestedSchema).map(([, text]) => String(text))];
  });
