/** Simple results. */
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Call } from './wire/call.ts';

/**
 * A tool result of one text.
 *
 * @example return textResult(`Deployed to ${env}.`);
 */
export const textResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

/**
 * A tool's error result of one text. The model reads it, so say what to do.
 *
 * @example return errorResult(`There is no environment '${env}'. Use 'staging' or 'production'.`);
 */
export const errorResult = (text: string): CallToolResult => ({ ...textResult(text), isError: true });

/**
 * A tool's result after its question `key` was declined or dismissed. It is not an error. It names the question but no
 * reason: a client may have refused by itself, and agents read only this text.
 *
 * @example if (isRefusal(answer)) return cancelledResult('units');
 */
export const cancelledResult = (key: string): CallToolResult => textResult(cancellationText(key));

const cancellationText = (key: string | undefined) =>
  key === undefined ? 'Cancelled.' : `Cancelled: the question '${key}' was not answered.`;

/**
 * Ends a call without the author's result. A tool ends with an error result. Prompts and resources have no error
 * results, so they end with a JSON-RPC error.
 *
 * @throws ProtocolError for `prompts/get` and `resources/read`.
 */
export function endCall(call: Pick<Call, 'method'>, text: string): CallToolResult {
  if (call.method === 'tools/call') return errorResult(text);
  throw new ProtocolError(ProtocolErrorCode.InvalidRequest, text);
}

/** Ends a call after a refused question: for a tool with {@link cancelledResult}, otherwise with {@link endCall}. */
export const endCancelled = (call: Pick<Call, 'method'>, key: string | undefined): CallToolResult =>
  call.method === 'tools/call' ? textResult(cancellationText(key)) : endCall(call, cancellationText(key));
