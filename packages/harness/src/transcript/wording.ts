/** JSON-RPC messages and replies in a few words, for drawings. */
import type { Reply } from './call.ts';
import type { WireMessage } from './transcript.ts';

/** An object from JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The object at `key`, or an empty one, so that any message can be drawn. */
export function objectIn(parent: JsonObject, key: string): JsonObject {
  const value = parent[key];
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}

/** Any value of a message as text. A hostile server may send an object with its own `toString` instead of a string. */
export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

/** The text of any message. `isSent`: a client sent it. */
export function messageText(message: WireMessage, isSent: boolean): string {
  if (message.error !== undefined) return `✗ ${errorText(objectIn(message, 'error'))}`;
  if (message.method !== undefined) return isSent ? requestText(message) : askText(message);
  const result = objectIn(message, 'result');
  if (isSent) return answerText(result);
  if (result.resultType === 'input_required') return questionsText(result);
  return `${result.isError === true ? '✗ ' : ''}${resultText(result)}`;
}

/** A client's request: `tools/call get_weather {"location":"Tokyo"}`, or `… + units, state` in a later round. */
function requestText(message: WireMessage) {
  const params = objectIn(message, 'params');
  const target = `${asText(message.method)} ${asText(params.name ?? params.uri)}`.trimEnd();
  if (params.inputResponses === undefined && params.requestState === undefined) {
    return params.arguments === undefined ? target : `${target} ${JSON.stringify(params.arguments)}`;
  }
  const brought = Object.keys(objectIn(params, 'inputResponses'));
  if (params.requestState !== undefined) brought.push('state');
  return `${target} + ${brought.join(', ') || 'nothing'}`;
}

/** Whether a server's message is a question to an old client. */
export const isQuestion = ({ method }: WireMessage): boolean =>
  method === 'elicitation/create' || method === 'sampling/createMessage' || method === 'roots/list';

/** A question to an old client: `elicitation/create  "Which units?"`. */
function askText(request: JsonObject) {
  const text = questionText(request);
  return asText(request.method) + (text === undefined ? '' : `  "${text}"${pageIn(request)}`);
}

/** The page that a question asks to open: ` ↗ shop.example/terms`. */
const pageIn = (request: JsonObject) => {
  const { mode, url } = objectIn(request, 'params');
  return mode === 'url' ? ` ↗ ${addressText(asText(url))}` : '';
};

/** An address without its query, which nobody can read. */
export function addressText(address: string): string {
  if (!URL.canParse(address)) return address;
  const { host, pathname } = new URL(address);
  return host + pathname;
}

/** The text of a question to a user, or the beginning of the last message to a model. */
function questionText(request: JsonObject) {
  const { message, messages } = objectIn(request, 'params');
  if (typeof message === 'string') return message;
  const prompt = objects(messages).at(-1);
  if (prompt === undefined) return undefined;
  const [line = '', ...more] = contentText(prompt.content).split('\n');
  return more.length > 0 ? `${line} …` : line;
}

/** The questions in an `input_required` result, one per line: `input_required  units: "Which units?"`. */
function questionsText(result: JsonObject) {
  const requests = objectIn(result, 'inputRequests');
  const questions = Object.keys(requests).map((key) => {
    const request = objectIn(requests, key);
    const asked = request.method === 'elicitation/create' ? questionText(request) : undefined;
    return `${key}: ${asked === undefined ? askText(request) : `"${asked}"${pageIn(request)}`}`;
  });
  const head = 'input_required  ';
  return (head + questions.join(`\n${' '.repeat(head.length)}`)).trimEnd();
}

/** An old client's answer to {@link askText}: `accept {"units":"metric"}`, a model's words, or `1 root`. */
export function answerText(result: JsonObject): string {
  if (typeof result.role === 'string') return `${result.role}: ${contentText(result.content)}`;
  if (Array.isArray(result.roots))
    return `${result.roots.length} root${result.roots.length === 1 ? '' : 's'}`;
  const content = result.content === undefined ? '' : ` ${JSON.stringify(result.content)}`;
  return `${typeof result.action === 'string' ? result.action : 'answer'}${content}`;
}

/** The texts in the result of a tool, a prompt or a resource, and the kinds of its other parts. */
export function resultText(result: JsonObject): string {
  const parts = [
    contentText(result.content),
    ...objects(result.messages).map(({ role, content }) => `${asText(role)}: ${contentText(content)}`),
    contentText(result.contents),
  ];
  return parts.filter((part) => part !== '').join('\n') || '(an empty result)';
}

export const contentText = (content: unknown): string =>
  objects(content)
    .map(({ type, mimeType, text }) =>
      typeof text === 'string' ? text : `(${asText(type ?? mimeType ?? 'data')})`,
    )
    .join('\n');

/** The objects in a list, or the one object. */
export const objects = (value: unknown) =>
  (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'object' && item !== null);

/** The text of a restart or a deploy: `a new version is deployed: reworded`. */
export const restartText = ({ deployed }: { readonly deployed?: string }): string =>
  deployed === undefined ? 'restarted' : `a new version is deployed: ${deployed}`;

/** A JSON-RPC error: `error -32602  Invalid or expired requestState`. One without a code was not sent by a server. */
const errorText = ({ code, message }: JsonObject) =>
  code === undefined ? asText(message) : `error ${asText(code)}  ${asText(message)}`;

/** A user's reply: the values, with their names if there are several, or the kind of refusal. `page`: the question asks to open one. */
export function replyText(reply: Reply, page = false): string {
  if (reply === 'silence') return 'says nothing';
  if (reply.action !== 'accept') return reply.action === 'decline' ? 'declines' : 'dismisses the question';
  if (page) return 'accepts';
  const fields = Object.entries(reply.content ?? {});
  if (fields.length === 0) return 'accepts, without an answer';
  return fields
    .map(([name, value]) => (fields.length === 1 ? valueText(value) : `${name}: ${valueText(value)}`))
    .join(', ');
}

const valueText = (value: unknown) => (value === true ? 'yes' : value === false ? 'no' : asText(value));
