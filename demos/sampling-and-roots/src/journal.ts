/**
 * Shape J: a tool that needs the client's roots, and then its model. Its code stands in the order of its steps. Each
 * round enters it from the top, and a finished step returns its record in the journal.
 */
import {
  errorResult,
  listRoots,
  type McpServer,
  protectedServer,
  type RequestStatePolicy,
  sampling,
  textResult,
} from '@mrtr/core';
import { journal } from '@mrtr/shapes/journal';
import { NEEDS, prompt, readmeOf, summarise, textOf } from './summarise.ts';

/** A new server with the tool. On stateless hosting this is called for every request. */
export function createServer(policy: RequestStatePolicy): McpServer {
  const server = protectedServer({ name: 'sampling-and-roots', version: '1.0.0' }, policy);

  server.registerTool(
    'summarise',
    summarise,
    journal(async ({ words }, ctx) => {
      // A server must not ask for a kind of input that its client did not declare, and this tool needs both.
      if (!ctx.canAsk('roots') || !ctx.canAsk('sampling')) return errorResult(NEEDS);

      const { roots } = await ctx.ask('roots', listRoots());
      const [project] = roots;
      if (project === undefined) return errorResult('No project is open.');

      // Read in one round: the journal carries the text to the next, so it has to be small. Read a large file again.
      const readme = await ctx.once('readme', () => readmeOf(project));
      return textResult(textOf(await ctx.ask('summary', sampling(prompt(readme, words)))));
    }),
  );

  return server;
}
