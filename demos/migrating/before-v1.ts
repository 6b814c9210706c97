import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { HOW_MANY } from './how-many.ts';
import type { Restaurant } from './restaurant.ts';

export function registerBook(server: McpServer, restaurant: Restaurant): void {
  server.registerTool('book', { inputSchema: { date: z.string() } }, async ({ date }, extra) => {
    const owner = String(extra.requestId);
    const table = await restaurant.hold(date, owner);
    const answer = await server.server.elicitInput({
      message: `How many guests on ${date}?`,
      requestedSchema: HOW_MANY,
    });
    if (answer.action !== 'accept') return { content: [{ type: 'text', text: 'Cancelled.' }] };
    const booked = await restaurant.book(table, owner, answer.content?.people as number);
    return { content: [{ type: 'text', text: booked }] };
  });
}
