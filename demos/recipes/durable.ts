/** Shape H on PostgreSQL: the handler waits, and another instance resumes the call when this one dies. */
import {
  elicitation,
  type McpServer,
  protectedServer,
  type RequestStateOptions,
  requestStatePolicy,
  textResult,
  words,
} from '@mrtr/core';
import { DbosStore } from '@mrtr/linear-dbos';
import { linear } from '@mrtr/shapes/linear';
import { z } from 'zod';

const inputSchema = z.object({ env: z.enum(['staging', 'production']) });
const Sure = z.object({ sure: z.enum(['no', 'yes']).transform((word) => word === 'yes') });

/** Call it once in a process. Change `version` with each deploy that changes what a handler does or asks. */
export async function open(
  postgres: string,
  keys: readonly string[],
  ledger?: RequestStateOptions['ledger'],
) {
  const policy = requestStatePolicy({ keys, ledger }); // for other tools: the store serves each token once by itself
  const store = await DbosStore.open({ postgres, policy, version: '1', onerror: console.error });

  const deploy = linear(
    async ({ env }: z.infer<typeof inputSchema>, ctx) => {
      const ticket = await ctx.once('ticket', async () => `ticket for ${env}`); // once, also after a crash
      const { sure } = await ctx.ask('sure', elicitation(words`Really deploy to ${env}?`, Sure));
      return textResult(sure ? `Deployed to ${env}, ${ticket}.` : 'Left alone.');
    },
    { store, asks: ['elicitation'] }, // a client that cannot be asked gets no ticket
  );
  const createServer = (): McpServer => {
    const server = protectedServer({ name: 'deployer', version: '1.0.0' }, policy);
    server.registerTool('deploy', { inputSchema }, deploy);
    return server;
  };
  return { createServer, close: () => store.close() };
}
