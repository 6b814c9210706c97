/** The requests of a client at 2026-07-28: the body, and the HTTP headers that mirror it. */
import { asObject, isObject, type JsonObject, mapMembers, objectAt, type Texts } from './json.ts';

export const REVISION = '2026-07-28';
export const OLD_REVISION = '2025-11-25';

/** The capabilities that a client declares by default: all of them. */
export const ALL_CAPABILITIES: JsonObject = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

export interface WireRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly capabilities?: JsonObject | undefined;
  /** Header values that the tool's schema asks to be mirrored (`x-mcp-header`), by header name. */
  readonly mirrored?: Texts;
  /** Cuts the connection when the response begins to arrive, so that the client never reads it. HTTP only. */
  readonly cut?: boolean | undefined;
}

const META = 'io.modelcontextprotocol/';

/** The member of `_meta` that holds the declared capabilities. */
export const DECLARED = `${META}clientCapabilities`;

export function envelope({ method, params, capabilities = ALL_CAPABILITIES }: WireRequest, id: number) {
  const meta = {
    [`${META}protocolVersion`]: REVISION,
    [`${META}clientInfo`]: { name: 'mrtr-check', version: '0.0.0' },
    [DECLARED]: capabilities,
    ...objectAt(params, '_meta'),
  };
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } };
}

export function mirroringHeaders({ method, params, mirrored = {} }: WireRequest) {
  const name = method === 'resources/read' ? params.uri : params.name;
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': REVISION,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': headerValue(name) }),
    ...(mapMembers(mirrored, headerValue) as Record<string, string>),
  };
}

export function headerValue(value: string) {
  const plain =
    /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return plain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

export function mirroredArguments(schema: unknown, args: unknown) {
  const found: Record<string, string> = {};
  for (const [key, property] of Object.entries(objectAt(schema, 'properties'))) {
    const value = asObject(args)[key];
    const { 'x-mcp-header': header } = asObject(property);
    if (typeof header === 'string' && value !== undefined && typeof value !== 'object')
      found[`mcp-param-${header}`] = String(value);
    if (isObject(value)) Object.assign(found, mirroredArguments(property, value));
  }
  return found;
}
