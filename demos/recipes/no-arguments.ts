/** A tool without arguments: leave `inputSchema` out. The context is then the second parameter, as always. */
import {
  ask,
  cancelledResult,
  elicitation,
  isRefusal,
  type McpServer,
  protectedServer,
  textResult,
} from '@mrtr/core';
import { once } from '@mrtr/shapes/once';
import { z } from 'zod';
import { policy } from './deploy.ts';

const rating = elicitation('How was it?', z.object({ stars: z.enum(['1', '2', '3', '4', '5']) }));

export function createServer(): McpServer {
  const server = protectedServer({ name: 'deployer', version: '1.0.0' }, policy);
  const rate = once(async (_none: unknown, ctx) => {
    const answer = ctx.answer('stars', rating);
    if (isRefusal(answer)) return cancelledResult('stars');
    return answer.kind === 'accepted' ? textResult(`${answer.value.stars} of 5.`) : ask({ stars: rating });
  });
  server.registerTool('rate', { description: 'Asks how it was.' }, rate);
  return server;
}
