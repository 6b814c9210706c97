import { elicitation, type McpServer, textResult, words } from '@mrtr/core';
import { journal } from '@mrtr/shapes/journal';
import { z } from 'zod';
import { HOW_MANY } from './how-many.ts';
import type { Restaurant } from './restaurant.ts';

const inputSchema = z.object({ date: z.string() });

export function registerBook(server: McpServer, restaurant: Restaurant): void {
  const book = journal(
    async ({ date }: z.infer<typeof inputSchema>, ctx) => {
      const owner = ctx.idempotencyKey('hold');
      const table = await ctx.once('hold', () => restaurant.hold(date, owner));
      const guests = elicitation<{ people: number }>(words`How many guests on ${date}?`, HOW_MANY);
      const { people } = await ctx.ask('guests', guests);
      return textResult(await restaurant.book(table, owner, people));
    },
    { asks: ['elicitation'] },
  );
  server.registerTool('book', { inputSchema }, book);
}
