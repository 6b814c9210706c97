import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { elicitation, protectedServer, requestStatePolicy, textResult, words } from '@mrtr/core';
import { journal } from '@mrtr/shapes/journal';
import { z } from 'zod';

const tool = { description: 'Deploys the latest build.', inputSchema: z.object({ env: z.string() }) };
const Sure = z.object({ yes: z.boolean().meta({ title: 'Deploy it' }) });
const policy = requestStatePolicy(); // no keys: for one process; open calls are lost when it ends

const deploy = journal(async ({ env }: z.infer<typeof tool.inputSchema>, ctx) => {
  const { yes } = await ctx.ask('sure', elicitation(words`Really deploy to ${env}?`, Sure));
  return textResult(yes ? `Deployed to ${env}.` : 'Nothing was deployed.');
});

serveStdio(() => {
  const server = protectedServer({ name: 'deployer', version: '1.0.0' }, policy);
  server.registerTool('deploy', tool, deploy);
  return server;
});
