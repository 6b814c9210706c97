import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

/** A result of one text. */
export const text = (of: string): CallToolResult => ({ content: [{ type: 'text', text: of }] });

/** The polite end of a call whose user refused. */
export const cancellationResult = (key: string): CallToolResult =>
  text(`Cancelled: the question '${key}' was not answered.`);
