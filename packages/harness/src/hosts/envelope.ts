/** What every request of a client at 2026-07-28 carries: an envelope in its body, and headers that mirror the body. */
import type { JsonObject } from '../transcript/wording.ts';

export const REVISION = '2026-07-28';

const META = 'io.modelcontextprotocol/';

/** The member of `_meta` that holds the declared capabilities. */
export const DECLARED: string = `${META}clientCapabilities`;

export const CONTENT_TYPES = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
} as const;

/** The members of `_meta`. */
export const envelopeOf = (capabilities: unknown, clientInfo?: JsonObject): JsonObject => ({
  [`${META}protocolVersion`]: REVISION,
  ...(clientInfo && { [`${META}clientInfo`]: clientInfo }),
  [DECLARED]: capabilities,
});

/** The headers that mirror a request. */
export function mirror(method: string, { name, uri }: JsonObject): Record<string, string> {
  const target = method === 'resources/read' ? uri : (name ?? uri);
  return {
    'mcp-protocol-version': REVISION,
    'mcp-method': method,
    ...(typeof target === 'string' && { 'mcp-name': headerValue(target) }),
  };
}

/** A text as the value of a header, in Base64 if it does not fit there as it is. */
export function headerValue(value: string): string {
  const plain =
    /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return plain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}
