/**
 * Shape J: a tool that needs the client's roots, and then its model. It is written in the order in which things happen,
 * and entered in each round, from the top; a step that has settled returns what the journal has of it.
 */

import type { RequestStatePolicy } from '@mrtr/core';
import { errorResult, listRoots, type McpServer, protectedServer, sampling, textResult } from '@mrtr/core';
import { journaled } from '@mrtr/shapes/journal';
import { NEEDS, prompt, readmeOf, summarise, textOf } from './summarise.ts';

/** A new server with the tool. On stateless hosting this is called for every request. */
export function createServer(policy: RequestStatePolicy): McpServer {
  const server = protectedServer({ name: 'sampling-and-roots', version: '1.0.0' }, policy);

  server.registerTool(
    'summarise',
    summarise,
    journaled(async ({ words }, ctx) => {
      // A server must not ask for what its client did not declare; and half of it would be of no use.
      if (!ctx.canAsk('roots') || !ctx.canAsk('sampling')) return errorResult(NEEDS);

      const { roots } = await ctx.ask('roots', listRoots());
      const [project] = roots;
      if (project === undefined) return errorResult('No project is open.');

      // Read in one round: the journal carries it to the next. So it has to be small; a large file is better read anew.
      const readme = await ctx.run('readme', () => readmeOf(project));
      return textResult(textOf(await ctx.ask('summary', sampling(prompt(readme, words)))));
    }),
  );

  return server;
}
