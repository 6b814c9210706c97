/** What every request of a client at 2026-07-28 carries: an envelope in its body, and headers that mirror the body. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/client';
import type { JsonObject } from '../transcript/wording.ts';

export const REVISION: string = '2026-07-28';

/** The member of `_meta` that holds the declared capabilities. */
export const DECLARED: string = CLIENT_CAPABILITIES_META_KEY;

export const CONTENT_TYPES = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
} as const;

/** The members of `_meta`. */
export const envelopeOf = (capabilities: unknown, clientInfo?: JsonObject): JsonObject => ({
  [PROTOCOL_VERSION_META_KEY]: REVISION,
  ...(clientInfo && { [CLIENT_INFO_META_KEY]: clientInfo }),
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
