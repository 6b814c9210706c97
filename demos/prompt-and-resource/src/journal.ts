/**
 * Shape J: a prompt and a resource that ask, written like H and entered like F: in each round, from the top. A step
 * that has settled returns what the journal has of it, so any instance can go on. A user who says no makes the `await`
 * throw; left alone, this ends the call as its method has it: for a prompt or a resource, with a JSON-RPC error.
 */
import { type McpServer, protectedServer, type RequestStatePolicy } from '@mrtr/core';
import { journaled } from '@mrtr/shapes/journal';
import { Currency, DEFAULT_CURRENCY, quarterly, queryFigures, report } from './quarterly-report.ts';
import { Audience, DEFAULT_AUDIENCE, draft, releaseNotes } from './release-notes.ts';

/** A new server with the prompt and the resource. On stateless hosting this is called for every request. */
export function createServer(policy: RequestStatePolicy): McpServer {
  const server = protectedServer({ name: 'prompt-and-resource', version: '1.0.0' }, policy);

  server.registerPrompt(
    'release_notes',
    releaseNotes,
    journaled(async ({ version }, ctx) => {
      if (!ctx.canAsk('elicitation')) return draft(version, DEFAULT_AUDIENCE);
      return draft(version, await ctx.elicit('audience', 'Who will read them?', Audience));
    }),
  );

  server.registerResource(
    'quarterly',
    'report://quarterly',
    quarterly,
    journaled(async (uri, ctx) => {
      // The figures of the moment in which the report is opened. The journal carries them to the second round.
      const figures = await ctx.run('figures', queryFigures);
      if (!ctx.canAsk('elicitation')) return report(uri, figures, DEFAULT_CURRENCY);
      return report(uri, figures, await ctx.elicit('currency', 'In which currency?', Currency));
    }),
  );

  return server;
}
