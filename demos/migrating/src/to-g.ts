import { elicitation, type McpServer, textResult } from '@mrtr/core';
import { ToolBuilder } from '@mrtr/shapes/tool-builder';
import { z } from 'zod';
import { HOW_MANY } from './how-many.ts';
import type { Restaurant } from './restaurant.ts';

const guests = elicitation<{ people: number }>('How many guests?', HOW_MANY);
const inputSchema = z.object({ date: z.string() });

export function registerBook(server: McpServer, restaurant: Restaurant): void {
  const book = new ToolBuilder<z.infer<typeof inputSchema>>()
    .incompleteStep('guests', () => guests)
    .endStep(async ({ date }, { guests: { people } }) => {
      const hold = await restaurant.hold(date);
      return textResult(await restaurant.book(hold, people));
    })
    .build();
  server.registerTool('book', { inputSchema }, book);
}
