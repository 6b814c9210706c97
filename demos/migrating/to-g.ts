import { randomUUID } from 'node:crypto';
import { elicitation, type McpServer, textResult, words } from '@mrtr/core';
import { ToolBuilder } from '@mrtr/shapes/tool-builder';
import { z } from 'zod';
import { HOW_MANY } from './how-many.ts';
import type { Restaurant } from './restaurant.ts';

const inputSchema = z.object({ date: z.string() });

export function registerBook(server: McpServer, restaurant: Restaurant): void {
  const book = new ToolBuilder<z.infer<typeof inputSchema>>()
    .incompleteStep('guests', ({ date }) =>
      elicitation<{ people: number }>(words`How many guests on ${date}?`, HOW_MANY),
    )
    .endStep(async ({ date }, { guests: { people } }) => {
      const owner = randomUUID();
      const table = await restaurant.hold(date, owner);
      return textResult(await restaurant.book(table, owner, people));
    })
    .build();
  server.registerTool('book', { inputSchema }, book);
}
