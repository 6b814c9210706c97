/** A tool that needs the client's roots, and then its model, in two shapes. */
import { CannotAsk, errorResult, listRoots, sampling, textResult } from '@mrtr/core';
import { journal } from '@mrtr/shapes/journal';
import { argument, requestContext, resolve, resolver } from '@mrtr/shapes/resolve';
import { NEEDS, prompt, readmeOf, summarise, textOf } from './summarise.ts';

/**
 * J: its code stands in the order of its steps. Each round enters it from the top, and a finished step returns its record in the
 * journal.
 */
export const journaled = journal(async ({ words }: { readonly words: number }, ctx) => {
  // This tool needs both kinds, and a server must not ask for undeclared ones.
  if (!ctx.canAsk('roots') || !ctx.canAsk('sampling')) return errorResult(NEEDS);

  const { roots } = await ctx.ask('roots', listRoots());
  const [project] = roots;
  if (project === undefined) return errorResult('No project is open.');

  // Read in one round: the journal carries the text to the next, so it has to be small. Read a large file again.
  const readme = await ctx.once('readme', () => readmeOf(project));
  return textResult(textOf(await ctx.ask('summary', sampling(prompt(readme, words)))));
});

const project = resolver('roots', { ctx: requestContext() }, ({ ctx }) => {
  // As above.
  if (!ctx.canAsk('roots') || !ctx.canAsk('sampling')) throw new CannotAsk(NEEDS);
  return listRoots();
});

// Read in each round, because only answers travel. If the file changed in between, the model would be asked again.
const readme = resolver('readme', { project }, ({ project: { roots } }) => roots[0] && readmeOf(roots[0]));

const summary = resolver('summary', { readme, words: argument<number>() }, ({ readme, words }) =>
  readme === undefined ? undefined : sampling(prompt(readme, words)),
);

/**
 * I: each is a resolver: its needs, and a function that returns a question or a value. The order follows from the needs. The
 * body is entered once, when all are filled.
 */
export const resolved = resolve(summarise.inputSchema, { summary }, ({ summary }) =>
  summary === undefined ? errorResult('No project is open.') : textResult(textOf(summary)),
);
