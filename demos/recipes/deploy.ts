/** The tool of these recipes, in shape F, and its servers. */
import {
  ask,
  cancelledResult,
  elicitation,
  isRefusal,
  type McpServer,
  protectedServer,
  requestStatePolicy,
  textResult,
  words,
} from '@mrtr/core';
import { once } from '@mrtr/shapes/once';
import { z } from 'zod';

/** A secret of 32 characters or more, which instances share. Without it, the policy is for one process. */
const { STATE_KEY } = process.env;
/** Made once, for all servers. */
export const policy = requestStatePolicy({ audience: 'deployer', keys: STATE_KEY ? [STATE_KEY] : undefined });

const inputSchema = z.object({ env: z.enum(['staging', 'production']) });
const Sure = z.object({ sure: z.enum(['no', 'yes']).transform((word) => word === 'yes') });

export function registerDeploy(server: McpServer): McpServer {
  const deploy = once(async ({ env }: z.infer<typeof inputSchema>, ctx) => {
    const sure = elicitation(words`Really deploy to ${env}?`, Sure);
    const answer = ctx.answer('sure', sure);
    if (isRefusal(answer)) return cancelledResult('sure');
    if (answer.kind !== 'accepted') return ask({ sure });
    return textResult(answer.value.sure ? `Deployed to ${env}.` : 'Left alone.');
  });
  server.registerTool('deploy', { description: 'Deploys the latest build.', inputSchema }, deploy);
  return server;
}

/** A new server for each request of a new client, and for each session of an old one. */
export const createServer = (): McpServer =>
  registerDeploy(protectedServer({ name: 'deployer', version: '1.0.0' }, policy));
