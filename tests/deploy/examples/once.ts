import { ask, cancelledResult, elicitation, isRefusal, textResult } from '@mrtr/core';
import { once } from '@mrtr/shapes/once';
import { z } from 'zod';

const size = elicitation('Which size?', z.object({ size: z.enum(['S', 'M', 'L']) }));

// Version 1 recorded only the number, as text.
const Ticket = z.union([
  z.object({ number: z.string(), queue: z.string() }),
  z.string().transform((number) => ({ number, queue: 'all' })),
]);

export const order = (openTicket: () => Promise<{ number: string; queue: string }>) =>
  once(async (_input: unknown, ctx) => {
    const ticket = await ctx.once('ticket', openTicket, { schema: Ticket });
    const answer = ctx.answer('size', size);
    if (isRefusal(answer)) return cancelledResult('size');
    if (answer.kind !== 'accepted') return ask({ size });
    return textResult(`${answer.value.size}, ticket ${ticket.number} in ${ticket.queue}.`);
  });
