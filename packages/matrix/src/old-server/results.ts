import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

export const text = (of: string): CallToolResult => ({ content: [{ type: 'text', text: of }] });

export const cancellationResult = (key: string): CallToolResult =>
  text(`Cancelled: the question '${key}' was not answered.`);
