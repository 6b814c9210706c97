/**
 * Shape I: a tool that needs the client's roots, and then its model. Each is a resolver: what it needs, and the question
 * or the value that fills it. The order follows from the needs. The body is entered once, when all is there.
 */

import type { RequestStatePolicy } from '@mrtr/core';
import { CannotAsk, canAsk, errorResult, type McpServer, protectedServer, textResult } from '@mrtr/core';
import { argument, injected, listRoots, requestContext, resolver, sample } from '@mrtr/shapes/resolve';
import { NEEDS, prompt, readmeOf, summarise, textOf } from './summarise.ts';

const project = resolver('roots', { ctx: requestContext() }, ({ ctx }) => {
  // A server must not ask for what its client did not declare; and half of it would be of no use.
  if (!canAsk(ctx, 'roots') || !canAsk(ctx, 'sampling')) throw new CannotAsk(NEEDS);
  return listRoots();
});

// Read in each round: only answers travel. Were the file to change in between, the model would be asked again.
const readme = resolver('readme', { project }, ({ project: { roots } }) => roots[0] && readmeOf(roots[0]));

const summary = resolver('summary', { readme, words: argument<number>() }, ({ readme, words }) =>
  readme === undefined ? undefined : sample(prompt(readme, words)),
);

/** A new server with the tool. On stateless hosting this is called for every request. */
export function createServer(policy: RequestStatePolicy): McpServer {
  const server = protectedServer({ name: 'sampling-and-roots', version: '1.0.0' }, policy);

  server.registerTool(
    'summarise',
    summarise,
    injected(summarise.inputSchema, { summary }, ({ summary }) =>
      summary === undefined ? errorResult('No project is open.') : textResult(textOf(summary)),
    ),
  );

  return server;
}
