/**
 * The part of the published schema of 2026-07-28 that a call can meet, as JSON Schema. Members that are not named here
 * are open, as they are there. No package publishes that schema: the one of the SDK takes what lacks a `resultType`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
import type { JsonObject } from './json.ts';

/** An object with these members. The name of one that may be absent ends with `?`. */
function object(members: JsonObject): JsonObject {
  const names = Object.keys(members);
  const properties = Object.fromEntries(names.map((name) => [name.replace('?', ''), members[name]]));
  return { type: 'object', properties, required: names.filter((name) => !name.endsWith('?')) };
}
const listOf = (items: unknown): JsonObject => ({ type: 'array', items });
const anyOf = (...options: readonly unknown[]): JsonObject => ({ anyOf: options });
const oneOf = (...values: readonly string[]): JsonObject => ({ enum: values });
const just = (value: string): JsonObject => ({ const: value });

const string = { type: 'string' };
const integer = { type: 'integer' };
const number = { type: 'number' };
const boolean = { type: 'boolean' };
const anyObject = { type: 'object' };
const strings = listOf(string);
const uri = { type: 'string', format: 'uri' };

const implementation = object({ name: string, version: string, 'title?': string, 'websiteUrl?': uri });
const resultMeta = object({ 'io.modelcontextprotocol/serverInfo?': implementation });
const result = (members: JsonObject): JsonObject =>
  object({ '_meta?': resultMeta, resultType: string, ...members });
const cached = { ttlMs: { type: 'integer', minimum: 0 }, cacheScope: oneOf('private', 'public') };

const role = oneOf('assistant', 'user');
const priority = { type: 'number', minimum: 0, maximum: 1 };
const annotations = object({ 'audience?': listOf(role), 'priority?': priority, 'lastModified?': string });
const noted = { 'annotations?': annotations };
const text = object({ type: just('text'), text: string, ...noted });
const binary = (type: string) => object({ type: just(type), data: string, mimeType: string, ...noted });
const contents = anyOf(
  object({ uri, text: string, 'mimeType?': string }),
  object({ uri, blob: string, 'mimeType?': string }),
);
const link = object({ type: just('resource_link'), name: string, uri, 'size?': integer, ...noted });
const embedded = object({ type: just('resource'), resource: contents, ...noted });
const contentBlock = anyOf(text, binary('image'), binary('audio'), link, embedded);

const titles = { 'title?': string, 'description?': string };
const titled = object({ const: string, title: string });
const textField = object({
  ...{ type: just('string'), 'format?': oneOf('date', 'date-time', 'email', 'uri') },
  ...{ 'minLength?': integer, 'maxLength?': integer, 'default?': string },
  ...{ 'enum?': strings, 'enumNames?': strings, 'oneOf?': listOf(titled), ...titles },
});
const numberField = object({
  ...{
    type: oneOf('integer', 'number'),
    'minimum?': number,
    'maximum?': number,
    'default?': number,
    ...titles,
  },
});
const yesOrNo = object({ type: just('boolean'), 'default?': boolean, ...titles });
const choices = anyOf(object({ type: just('string'), enum: strings }), object({ anyOf: listOf(titled) }));
const choicesField = object({
  ...{ type: just('array'), items: choices, 'default?': strings, ...titles },
  ...{ 'minItems?': integer, 'maxItems?': integer },
});
const fields = { type: 'object', additionalProperties: anyOf(textField, numberField, yesOrNo, choicesField) };
const requestedSchema = object({
  ...{ '$schema?': string, type: just('object'), properties: fields, 'required?': strings },
});
const form = object({ 'mode?': just('form'), message: string, requestedSchema });
const url = object({ mode: just('url'), message: string, url: uri });

const toolUse = object({ type: oneOf('tool_use', 'tool_result') });
const samplingContent = anyOf(text, binary('image'), binary('audio'), toolUse);
const samplingMessage = object({ role, content: anyOf(samplingContent, listOf(samplingContent)) });
const sampling = object({
  ...{
    maxTokens: integer,
    messages: listOf(samplingMessage),
    'systemPrompt?': string,
    'temperature?': number,
  },
  'includeContext?': oneOf('allServers', 'none', 'thisServer'),
});
const request = (method: string, params: JsonObject) => object({ method: just(method), ...params });

/** The schemas of input requests, by their method. An elicitation is a form unless its mode says otherwise. */
export const REQUESTS = {
  form: request('elicitation/create', { params: form }),
  url: request('elicitation/create', { params: url }),
  'sampling/createMessage': request('sampling/createMessage', { params: sampling }),
  'roots/list': request('roots/list', { 'params?': anyObject }),
} as const;

export const INPUT_REQUIRED = result({ 'inputRequests?': anyObject, 'requestState?': string });

const tool = object({ name: string, inputSchema: object({ type: just('object') }) });
const discovered = { supportedVersions: strings, capabilities: anyObject, 'instructions?': string };

export const RESULTS: Readonly<Record<string, JsonObject>> = {
  'tools/call': result({ content: listOf(contentBlock), 'isError?': boolean }),
  'prompts/get': result({ messages: listOf(object({ role, content: contentBlock })) }),
  'resources/read': result({ contents: listOf(contents), ...cached }),
  'server/discover': result({ ...discovered, ...cached }),
  'tools/list': result({ tools: listOf(tool), ...cached }),
  'prompts/list': result({ prompts: listOf(object({ name: string })), ...cached }),
};

export const ERROR = object({ code: integer, message: string });

/** The codes of the reserved range that this revision defines, and those that it forbids. */
export const RESERVED = {
  from: -32099,
  to: -32020,
  defined: [-32020, -32021, -32022],
  forbidden: [-32002, -32042],
};
