import { serveStdio } from '@modelcontextprotocol/server/stdio';
import {
  approval,
  ask,
  protectedServer,
  readAnswer,
  requestStatePolicy,
  textResult,
  words,
} from '@mrtr/core';
import { z } from 'zod';

const tool = { description: 'Deploys the latest build.', inputSchema: z.object({ env: z.string() }) };
const policy = requestStatePolicy(); // no keys: for one process; open calls are lost when it ends

serveStdio(() => {
  const server = protectedServer({ name: 'deployer', version: '1.0.0' }, policy);
  server.registerTool('deploy', tool, async ({ env }, ctx) => {
    const sure = approval(words`Really deploy to ${env}?`, { approve: 'Deploy', refuse: 'Do not deploy' });
    const answer = readAnswer(ctx, 'sure', sure); // both rounds run this; effects stand below
    if (answer.kind === 'missing' || answer.kind === 'invalid') return ask({ sure });
    return textResult(answer.kind === 'accepted' ? `Deployed to ${env}.` : 'Nothing was deployed.');
  });
  return server;
});
