/** The requests of a client at 2026-07-28: the body, and the HTTP headers that mirror it. */
import { CONTENT_TYPES, envelopeOf, headerValue, mirror } from '@mrtr/harness/internal';
import { asObject, isObject, type JsonObject, mapMembers, objectAt, type Texts } from './json.ts';

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

export function envelope({ method, params, capabilities = ALL_CAPABILITIES }: WireRequest, id: number) {
  const own = envelopeOf(capabilities, { name: 'mrtr-check', version: '0.0.0' });
  return {
    jsonrpc: '2.0',
    id,
    method,
    params: { ...params, _meta: { ...own, ...objectAt(params, '_meta') } },
  };
}

export const mirroringHeaders = ({ method, params, mirrored = {} }: WireRequest) => ({
  ...CONTENT_TYPES,
  ...mirror(method, params),
  ...(mapMembers(mirrored, headerValue) as Texts),
});

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
