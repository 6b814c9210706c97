/**
 * Answers that do not fit their question. A client that cannot draw a form accepts it all the same, so an answer that
 * does not fit is not always the user's mistake: the next prompt says why, and the third one is the last.
 */
import type { InputRequest, StandardSchemaV1 } from '@modelcontextprotocol/server';
import type { UnfitAnswer } from '../wire/answer-reads.ts';
import type { Members } from '../wire/wire.ts';
import { type Answer, isFinal } from './answer.ts';
import { isBlank } from './elicitation.ts';
import type { Question } from './question.ts';
import { words } from './words.ts';

interface Form {
  readonly properties?: Readonly<Record<string, Members>>;
  readonly required?: readonly string[];
}

/** The unfit answer after which a question is not asked again. */
export const MAX_UNFIT = 3;
/** The same, if no required field came. */
const LAST_IF_EMPTY = 2;
const MAX_ISSUES = 3;
const NOT_FILLED_IN =
  'The client accepted this form without filling it in, so it is not asked again. It may not be able to show it.';

/**
 * Describes an answer that came and does not fit. Undefined for an answer that fits, for none, and for a question of two
 * wordings: its page limits how often it is asked.
 *
 * @param before how many answers to the question did not fit before.
 */
export function describeUnfit(
  key: string,
  { request, otherWording }: Question,
  response: unknown,
  answer: Answer<unknown>,
  before: number,
): UnfitAnswer | undefined {
  if (isFinal(answer) || response === undefined || otherWording !== undefined) return undefined;
  const { properties = {}, required = [] } = formOf(request);
  const { action, content } = (response ?? {}) as { action?: unknown; content?: Members | null };
  const isEmpty =
    action === 'accept' && required.length > 0 && required.every((name) => isBlank(content?.[name] ?? null));
  const issues = answer.kind === 'invalid' ? answer.issues.slice(0, MAX_ISSUES) : [];
  const said = issues.map((issue) => ` ${sayIssue(issue, properties)}`).join(';');
  const why = (isEmpty ? 'The form came back empty.' : 'The last answer did not fit.') + said;
  const times = before + 1;
  const isLast = times >= (isEmpty ? LAST_IF_EMPTY : MAX_UNFIT);
  const fields = Object.entries(properties).map(([name, field]) => `${name}: ${kindOf(field)}`);
  const end = isEmpty
    ? NOT_FILLED_IN
    : `No answer to the question '${key}' fitted, so it is not asked again. ${why}`;
  return { times, why, end: isLast ? end : undefined, fields: fields.join(', ') };
}

/** `request` with the reason why the last answer to it did not fit. A request without a text stays as it is. */
export function withReason<R extends InputRequest>(request: R, { why }: UnfitAnswer): R {
  const { message } = (request.params ?? {}) as { message?: unknown };
  if (message === undefined) return request;
  return { ...request, params: { ...request.params, message: `${message}\n\n${why}` } };
}

const formOf = ({ params }: InputRequest) =>
  (params as { requestedSchema?: Form } | undefined)?.requestedSchema ?? {};

/** An issue in the words of the schema or of its author. They may quote the answer, so they are set apart. */
function sayIssue({ message, path: [part] = [] }: StandardSchemaV1.Issue, properties: Members) {
  // An escaped double quotation mark would make a list of choices hard to read.
  const said = message.replaceAll('"', "'");
  if (part === undefined) return words`${said}`.text;
  const name = String(typeof part === 'object' ? part.key : part);
  return words`${(properties[name] as { title?: string } | undefined)?.title ?? name}: ${said}`.text;
}

const kindOf = ({ type, format = type, enum: values, oneOf = values }: Members) =>
  oneOf === undefined ? format : 'choice';
