/** The plain protocol (shape E): read the answer, or return the question. */
import {
  ask,
  cancelledResult,
  elicitation,
  isRefusal,
  type McpServer,
  protectedServer,
  readAnswer,
  requestStatePolicy,
  textResult,
  words,
} from '@mrtr/core';
import { z } from 'zod';

const policy = requestStatePolicy(); // no keys: for one process
const inputSchema = z.object({ env: z.enum(['staging', 'production']) });
const Sure = z.object({ sure: z.enum(['no', 'yes']).transform((word) => word === 'yes') });

export function createServer(): McpServer {
  const server = protectedServer({ name: 'deployer', version: '1.0.0' }, policy);
  server.registerTool('deploy', { inputSchema }, async ({ env }, ctx) => {
    const sure = elicitation(words`Really deploy to ${env}?`, Sure);
    const answer = readAnswer(ctx, 'sure', sure);
    if (isRefusal(answer)) return cancelledResult('sure');
    // Missing, or not what the form asked for. The client asks its user, and calls the tool again.
    if (answer.kind !== 'accepted') return ask({ sure });
    return textResult(answer.value.sure ? `Deployed to ${env}.` : 'Left alone.');
  });
  return server;
}
