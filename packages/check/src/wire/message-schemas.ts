/**
 * The part of the published schema of 2026-07-28 that a call can meet, as JSON Schema. Members that are not named here
 * are open, as they are there.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
import type { JsonObject } from './json.ts';

const string = { type: 'string' };
const integer = { type: 'integer' };
const strings = { type: 'array', items: string };
const uri = { type: 'string', format: 'uri' };

const object = (properties: JsonObject, ...required: readonly string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
});

const listOf = (items: unknown): JsonObject => ({ type: 'array', items });
const anyOf = (...options: readonly unknown[]): JsonObject => ({ anyOf: options });

const implementation = object(
  { name: string, version: string, title: string, websiteUrl: uri },
  'name',
  'version',
);
const resultMeta = object({ 'io.modelcontextprotocol/serverInfo': implementation });
const result = (properties: JsonObject, ...required: readonly string[]): JsonObject =>
  object({ _meta: resultMeta, resultType: string, ...properties }, 'resultType', ...required);

const annotations = object({
  audience: listOf({ enum: ['assistant', 'user'] }),
  priority: { type: 'number', minimum: 0, maximum: 1 },
  lastModified: string,
});
const kind = (type: string) => ({ const: type });
const text = object({ type: kind('text'), text: string, annotations }, 'type', 'text');
const binary = (type: string) =>
  object({ type: kind(type), data: string, mimeType: string, annotations }, 'type', 'data', 'mimeType');
const contents = anyOf(
  object({ uri, text: string, mimeType: string }, 'uri', 'text'),
  object({ uri, blob: string, mimeType: string }, 'uri', 'blob'),
);
const contentBlock = anyOf(
  text,
  binary('image'),
  binary('audio'),
  object(
    { type: kind('resource_link'), name: string, uri, size: integer, annotations },
    'type',
    'name',
    'uri',
  ),
  object({ type: kind('resource'), resource: contents, annotations }, 'type', 'resource'),
);
const role = { enum: ['assistant', 'user'] };
const cached = { ttlMs: { type: 'integer', minimum: 0 }, cacheScope: { enum: ['private', 'public'] } };

const titles = { title: string, description: string };
const titled = object({ const: string, title: string }, 'const', 'title');

/** A field of a form. */
const FIELD = anyOf(
  object(
    {
      type: kind('string'),
      format: { enum: ['date', 'date-time', 'email', 'uri'] },
      minLength: integer,
      maxLength: integer,
      default: string,
      enum: strings,
      enumNames: strings,
      oneOf: listOf(titled),
      ...titles,
    },
    'type',
  ),
  object(
    {
      type: { enum: ['integer', 'number'] },
      minimum: { type: 'number' },
      maximum: { type: 'number' },
      default: { type: 'number' },
      ...titles,
    },
    'type',
  ),
  object({ type: kind('boolean'), default: { type: 'boolean' }, ...titles }, 'type'),
  object(
    {
      type: kind('array'),
      items: anyOf(
        object({ type: kind('string'), enum: strings }, 'type', 'enum'),
        object({ anyOf: listOf(titled) }, 'anyOf'),
      ),
      minItems: integer,
      maxItems: integer,
      default: strings,
      ...titles,
    },
    'type',
    'items',
  ),
);

const form = object(
  {
    mode: kind('form'),
    message: string,
    requestedSchema: object(
      {
        $schema: string,
        type: kind('object'),
        properties: { type: 'object', additionalProperties: FIELD },
        required: strings,
      },
      'type',
      'properties',
    ),
  },
  'message',
  'requestedSchema',
);
const url = object({ mode: kind('url'), message: string, url: uri }, 'mode', 'message', 'url');
const samplingContent = anyOf(
  text,
  binary('image'),
  binary('audio'),
  object({ type: { enum: ['tool_use', 'tool_result'] } }, 'type'),
);
const sampling = object(
  {
    maxTokens: integer,
    messages: listOf(
      object({ role, content: anyOf(samplingContent, listOf(samplingContent)) }, 'role', 'content'),
    ),
    systemPrompt: string,
    temperature: { type: 'number' },
    includeContext: { enum: ['allServers', 'none', 'thisServer'] },
  },
  'maxTokens',
  'messages',
);

/** The schemas of input requests, by their method. An elicitation is a form unless its mode says otherwise. */
export const REQUESTS = {
  form: object({ method: kind('elicitation/create'), params: form }, 'method', 'params'),
  url: object({ method: kind('elicitation/create'), params: url }, 'method', 'params'),
  'sampling/createMessage': object(
    { method: kind('sampling/createMessage'), params: sampling },
    'method',
    'params',
  ),
  'roots/list': object({ method: kind('roots/list'), params: { type: 'object' } }, 'method'),
} as const;

/** An `input_required` result, but for its requests. */
export const INPUT_REQUIRED = result({ inputRequests: { type: 'object' }, requestState: string });

/** The schemas of complete results, by the method that they answer. */
export const RESULTS: Readonly<Record<string, JsonObject>> = {
  'tools/call': result({ content: listOf(contentBlock), isError: { type: 'boolean' } }, 'content'),
  'prompts/get': result(
    { messages: listOf(object({ role, content: contentBlock }, 'role', 'content')) },
    'messages',
  ),
  'resources/read': result({ contents: listOf(contents), ...cached }, 'contents', 'ttlMs', 'cacheScope'),
  'server/discover': result(
    { supportedVersions: strings, capabilities: { type: 'object' }, instructions: string, ...cached },
    'supportedVersions',
    'capabilities',
    'ttlMs',
    'cacheScope',
  ),
  'tools/list': result(
    {
      tools: listOf(
        object(
          { name: string, inputSchema: object({ type: kind('object') }, 'type') },
          'name',
          'inputSchema',
        ),
      ),
      ...cached,
    },
    'tools',
    'ttlMs',
    'cacheScope',
  ),
  'prompts/list': result(
    { prompts: listOf(object({ name: string }, 'name')), ...cached },
    'prompts',
    'ttlMs',
    'cacheScope',
  ),
};

/** An error, as every method may answer it. */
export const ERROR = object({ code: integer, message: string }, 'code', 'message');

/** The codes of the reserved range that this revision defines, and those that it forbids. */
export const RESERVED = {
  from: -32099,
  to: -32020,
  defined: [-32020, -32021, -32022],
  forbidden: [-32002, -32042],
};
