import { ask, cancelledResult, elicitation, isRefusal, type McpServer, textResult, words } from '@mrtr/core';
import { once } from '@mrtr/shapes/once';
import { z } from 'zod';
import { HOW_MANY } from './how-many.ts';
import type { Restaurant } from './restaurant.ts';

const inputSchema = z.object({ date: z.string() });

export function registerBook(server: McpServer, restaurant: Restaurant): void {
  const book = once(
    async ({ date }: z.infer<typeof inputSchema>, ctx) => {
      const owner = ctx.idempotencyKey('hold');
      const table = await ctx.once('hold', () => restaurant.hold(date, owner));
      const guests = elicitation<{ people: number }>(words`How many guests on ${date}?`, HOW_MANY);
      const answer = ctx.answer('guests', guests);
      if (isRefusal(answer)) return cancelledResult('guests');
      if (answer.kind !== 'accepted') return ask({ guests });
      return textResult(await restaurant.book(table, owner, answer.value.people));
    },
    { asks: ['elicitation'] },
  );
  server.registerTool('book', { inputSchema }, book);
}
