/** JSON-RPC messages in the few words that the drawing has room for. */
import type { Reply, WireMessage } from '@mrtr/harness';

/** An object as it comes out of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The object at `key`, or an empty one: a message is drawn whatever is in it. */
export function objectIn(parent: JsonObject, key: string): JsonObject {
  const value = parent[key];
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}

/** A client's request: `tools/call get_weather {"location":"Tokyo"}`, or `… + units, state` in a later round. */
export function requestText(message: WireMessage): string {
  const params = objectIn(message, 'params');
  const target = `${message.method} ${params.name ?? params.uri ?? ''}`.trimEnd();
  if (params.inputResponses === undefined && params.requestState === undefined) {
    return params.arguments === undefined ? target : `${target} ${JSON.stringify(params.arguments)}`;
  }
  const brought = Object.keys(objectIn(params, 'inputResponses'));
  if (params.requestState !== undefined) brought.push('state');
  return `${target} + ${brought.join(', ') || 'nothing'}`;
}

/** A question that the server sends as a request of its own: `elicitation/create  "Which units?"`. */
export const askText = (message: WireMessage): string => {
  const text = objectIn(message, 'params').message;
  return typeof text === 'string' ? `${message.method}  "${text}"` : String(message.method);
};

/** The questions in an `input_required` result, one a line: `input_required  units: "Which units?"`. */
export function questionsText(result: JsonObject): string {
  const requests = objectIn(result, 'inputRequests');
  const questions = Object.keys(requests).map((key) => {
    const request = objectIn(requests, key);
    const { message } = objectIn(request, 'params');
    return `${key}: ${typeof message === 'string' ? `"${message}"` : request.method}`;
  });
  const head = 'input_required  ';
  return (head + questions.join(`\n${' '.repeat(head.length)}`)).trimEnd();
}

/** An old client's answer to {@link askText}: `accept {"units":"metric"}`. */
export function answerText(result: JsonObject): string {
  const content = result.content === undefined ? '' : ` ${JSON.stringify(result.content)}`;
  return `${typeof result.action === 'string' ? result.action : 'answer'}${content}`;
}

/** What a tool's result says: its texts, and the kinds of whatever else is in it. */
export function resultText(result: JsonObject): string {
  const blocks = Array.isArray(result.content) ? (result.content as readonly JsonObject[]) : [];
  const parts = blocks.map(({ type, text }) => (typeof text === 'string' ? text : `(${String(type)})`));
  return parts.join('\n') || '(an empty result)';
}

/** A JSON-RPC error: `error -32602  Invalid or expired requestState`. */
export const errorText = (error: JsonObject): string => `error ${error.code}  ${error.message}`;

/** What a user did: the values they gave, with their names where there are several, or how they said no. */
export function replyText(reply: Reply): string {
  if (reply === 'silence') return 'says nothing';
  if (reply.action !== 'accept') return reply.action === 'decline' ? 'declines' : 'dismisses the question';
  const fields = Object.entries(reply.content ?? {});
  if (fields.length === 0) return 'accepts, without an answer';
  return fields
    .map(([name, value]) => (fields.length === 1 ? valueText(value) : `${name}: ${valueText(value)}`))
    .join(', ');
}

const valueText = (value: unknown): string => {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : JSON.stringify(value);
};
