/**
 * Shape I: a tool that needs the client's roots, and then its model. Each is a resolver: its needs, and a function that
 * returns a question or a value. The order follows from the needs. The body is entered once, when all are filled.
 */
import {
  CannotAsk,
  errorResult,
  listRoots,
  type McpServer,
  protectedServer,
  type RequestStatePolicy,
  sampling,
  textResult,
} from '@mrtr/core';
import { argument, requestContext, resolve, resolver } from '@mrtr/shapes/resolve';
import { NEEDS, prompt, readmeOf, summarise, textOf } from './summarise.ts';

const project = resolver('roots', { ctx: requestContext() }, ({ ctx }) => {
  // A server must not ask for a kind of input that its client did not declare, and this tool needs both.
  if (!ctx.canAsk('roots') || !ctx.canAsk('sampling')) throw new CannotAsk(NEEDS);
  return listRoots();
});

// Read in each round, because only answers travel. If the file changed in between, the model would be asked again.
const readme = resolver('readme', { project }, ({ project: { roots } }) => roots[0] && readmeOf(roots[0]));

const summary = resolver('summary', { readme, words: argument<number>() }, ({ readme, words }) =>
  readme === undefined ? undefined : sampling(prompt(readme, words)),
);

/** A new server with the tool. On stateless hosting this is called for every request. */
export function createServer(policy: RequestStatePolicy): McpServer {
  const server = protectedServer({ name: 'sampling-and-roots', version: '1.0.0' }, policy);

  server.registerTool(
    'summarise',
    summarise,
    resolve(summarise.inputSchema, { summary }, ({ summary }) =>
      summary === undefined ? errorResult('No project is open.') : textResult(textOf(summary)),
    ),
  );

  return server;
}
