import { randomUUID } from 'node:crypto';
import {
  ask,
  cancelledResult,
  elicitation,
  isRefusal,
  type McpServer,
  readAnswer,
  textResult,
  words,
} from '@mrtr/core';
import { z } from 'zod';
import { HOW_MANY } from './how-many.ts';
import type { Restaurant } from './restaurant.ts';

export function registerBook(server: McpServer, restaurant: Restaurant): void {
  server.registerTool('book', { inputSchema: z.object({ date: z.string() }) }, async ({ date }, ctx) => {
    const guests = elicitation<{ people: number }>(words`How many guests on ${date}?`, HOW_MANY);
    const answer = readAnswer(ctx, 'guests', guests);
    if (isRefusal(answer)) return cancelledResult('guests');
    if (answer.kind !== 'accepted') return ask({ guests });
    // The hold moved below the question: above it, each round would hold a table.
    const owner = randomUUID();
    const table = await restaurant.hold(date, owner);
    return textResult(await restaurant.book(table, owner, answer.value.people));
  });
}
