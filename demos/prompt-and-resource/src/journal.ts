/**
 * Shape J: a prompt and a resource that ask. They are written as in H, but each round enters them from the top, as in
 * F. A finished step returns its record in the journal, so any instance can resume the call. If the user refuses, the
 * `await` throws. Uncaught, this ends a prompt or a resource with a JSON-RPC error.
 */
import { type McpServer, protectedServer, type RequestStatePolicy } from '@mrtr/core';
import { journal } from '@mrtr/shapes/journal';
import { quarterly, queryFigures, report, whichCurrency } from './quarterly-report.ts';
import { draft, releaseNotes, whichAudience } from './release-notes.ts';

/** A new server with the prompt and the resource. On stateless hosting this is called for every request. */
export function createServer(policy: RequestStatePolicy): McpServer {
  const server = protectedServer({ name: 'prompt-and-resource', version: '1.0.0' }, policy);

  server.registerPrompt(
    'release_notes',
    releaseNotes,
    journal(async ({ version }, ctx) => draft(version, await ctx.ask('audience', whichAudience))),
  );

  server.registerResource(
    'quarterly',
    'report://quarterly',
    quarterly,
    journal(async (uri, ctx) => {
      // The figures at the time of opening the report. The journal carries them to the second round.
      const figures = await ctx.once('figures', queryFigures);
      return report(uri, figures, await ctx.ask('currency', whichCurrency));
    }),
  );

  return server;
}
