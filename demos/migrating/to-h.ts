import { elicitation, type McpServer, textResult, words } from '@mrtr/core';
import { type ContinuationStore, linear } from '@mrtr/shapes/linear';
import { z } from 'zod';
import { HOW_MANY } from './how-many.ts';
import type { Restaurant } from './restaurant.ts';

const inputSchema = z.object({ date: z.string() });

export function registerBook(server: McpServer, restaurant: Restaurant, store: ContinuationStore): void {
  const book = linear(
    async ({ date }: z.infer<typeof inputSchema>, ctx) => {
      const owner = ctx.idempotencyKey('hold');
      const table = await restaurant.hold(date, owner);
      const guests = elicitation<{ people: number }>(words`How many guests on ${date}?`, HOW_MANY);
      const { people } = await ctx.ask('guests', guests);
      return textResult(await restaurant.book(table, owner, people));
    },
    { store, asks: ['elicitation'] },
  );
  server.registerTool('book', { inputSchema }, book);
}
