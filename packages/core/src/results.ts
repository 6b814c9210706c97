/** The few results that every tool needs. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Call } from './call.ts';
import type { CallToolResult } from './wire.ts';

/** A tool result of one text. */
export const textResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

/** A tool's error result of one text. The model reads it, so say what to do. */
export const errorResult = (text: string): CallToolResult => ({ ...textResult(text), isError: true });

/** The polite end of a tool call after a declined or cancelled question. */
export const cancelledResult = (): CallToolResult => textResult('Cancelled.');

/**
 * Ends a call without the author's result, in the way of its method: a tool's error result; for prompts and
 * resources, whose results have no room for an error, a JSON-RPC error.
 *
 * @throws ProtocolError for `prompts/get` and `resources/read`.
 */
export function endCall(call: Pick<Call, 'method'>, text: string): CallToolResult {
  if (call.method === 'tools/call') return errorResult(text);
  throw new ProtocolError(ProtocolErrorCode.InvalidRequest, text);
}

/** Ends a call after a refusal: politely for a tool, as {@link endCall} does for the rest. */
export const endCancelled = (call: Pick<Call, 'method'>): CallToolResult =>
  call.method === 'tools/call' ? cancelledResult() : endCall(call, 'Cancelled.');
